"""The sample data: true runs, loaded once."""

import pytest

from reports.models import Run, Team, User
from reports.services.sample_data import has_runs, load_sample_data

pytestmark = pytest.mark.django_db


def test_they_hold_the_tutorial_in_both_versions_and_five_versions_of_an_assistant(team: Team, runner: User) -> None:
    assert not has_runs(team=team)

    assert load_sample_data(team=team, user=runner) == 7

    found = Run.objects.for_team(team).order_by("version__target__target_id", "ordered_at")
    assert has_runs(team=team)
    assert list(found.values_list("version__target__target_id", "version__fingerprint", "is_passing")) == [
        ("skyline.assistant", "skyline-2026.02.1", False),
        ("skyline.assistant", "skyline-2026.02.2", False),
        ("skyline.assistant", "skyline-2026.02.3", False),
        ("skyline.assistant", "skyline-2026.02.4-rc1", False),
        ("skyline.assistant", "skyline-2026.03.0", False),
        ("tutorial.catalogue", "correct-selection", True),
        ("tutorial.catalogue", "wrong-selection", False),
    ]


def test_loading_them_again_changes_nothing(team: Team, runner: User) -> None:
    load_sample_data(team=team, user=runner)
    before = list(Run.objects.order_by("pk").values())

    assert load_sample_data(team=team, user=runner) == 0
    assert list(Run.objects.order_by("pk").values()) == before
