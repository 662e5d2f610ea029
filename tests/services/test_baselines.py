"""Pinning and clearing named baselines: one default, every step kept, lists counted anew."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from reports.models import AuditEntry, Baseline, BaselineChange, Run, RunChange, Team, User
from reports.services.baselines import BaselineRefused, clear_baseline, set_baseline
from reports.services.recount import recount_run
from tests import factories
from tests.factories import outcomes
from tests.factories import stored as store

Versions = tuple[Run, Run, Run]


@pytest.fixture
def triager(team: Team) -> User:
    return factories.make_member(team, "triager")


@pytest.fixture
def versions(team: Team) -> Versions:
    first, second, third = (
        store(team, outcomes(f"v{day}", a=letters) | {"startedAt": f"2026-03-0{day}T09:00:00Z"})
        for day, letters in ((1, "P"), (2, "F"), (3, "F"))
    )
    return first, second, third


def change_of(run: Run) -> tuple[object, dict[str, int]]:
    row = RunChange.objects.get(run=run.pk)
    return row.baseline_id, row.counts


@pytest.mark.django_db(transaction=True)
def test_the_default_baseline_is_what_every_run_is_measured_against(
    team: Team, triager: User, versions: Versions
) -> None:
    first, second, third = versions
    assert change_of(third) == (second.pk, {"failing": 1})

    set_baseline(team=team, user=triager, run_pk=first.pk, name="production", is_default=True)

    assert change_of(third) == (first.pk, {"broken": 1})
    assert recount_run(third, repair=False) == ()


@pytest.mark.django_db(transaction=True)
def test_a_run_that_comes_later_is_measured_against_the_default_too(
    team: Team, triager: User, versions: Versions
) -> None:
    set_baseline(team=team, user=triager, run_pk=versions[0].pk, name="production", is_default=True)

    later = store(team, outcomes("v4", a="P") | {"startedAt": "2026-03-04T09:00:00Z"})

    assert change_of(later) == (versions[0].pk, {"steady": 1})


@pytest.mark.django_db(transaction=True)
def test_clearing_it_goes_back_to_the_version_before(team: Team, triager: User, versions: Versions) -> None:
    baseline = set_baseline(team=team, user=triager, run_pk=versions[0].pk, name="production", is_default=True)

    clear_baseline(team=team, user=triager, pk=baseline.pk, reason="Withdrawn")

    assert change_of(versions[2]) == (versions[1].pk, {"failing": 1})


@pytest.mark.django_db(transaction=True)
def test_the_default_itself_is_measured_against_the_version_before(
    team: Team, triager: User, versions: Versions
) -> None:
    set_baseline(team=team, user=triager, run_pk=versions[1].pk, name="production", is_default=True)

    assert change_of(versions[1]) == (versions[0].pk, {"broken": 1})


def test_every_step_is_kept_with_who_and_why(team: Team, triager: User, versions: Versions) -> None:
    baseline = set_baseline(
        team=team, user=triager, run_pk=versions[0].pk, name="production", reason="Released", is_default=True
    )
    set_baseline(team=team, user=triager, run_pk=versions[1].pk, name="production", reason="Next")
    clear_baseline(team=team, user=triager, pk=baseline.pk)

    steps: list[Any] = list(
        BaselineChange.objects.order_by("pk").values_list("action", "run", "reason", "by", "is_default")
    )
    assert steps == [
        ("set", versions[0].pk, "Released", triager.pk, True),
        ("set", versions[1].pk, "Next", triager.pk, True),
        ("cleared", None, "", triager.pk, True),
    ]
    actions = AuditEntry.objects.order_by("pk").values_list("action", "subject", "actor")
    assert list(actions) == [(f"baseline.{each}", "production", triager.pk) for each in ("set", "set", "cleared")]


def test_the_same_again_and_a_cleared_one_again_change_nothing(team: Team, triager: User, versions: Versions) -> None:
    for _ in range(2):
        baseline = set_baseline(team=team, user=triager, run_pk=versions[0].pk, name="production")
    for _ in range(2):
        clear_baseline(team=team, user=triager, pk=baseline.pk)

    assert BaselineChange.objects.count() == 2


def test_only_one_is_the_default_of_a_target_and_suite(team: Team, triager: User, versions: Versions) -> None:
    set_baseline(team=team, user=triager, run_pk=versions[0].pk, name="production", is_default=True)
    set_baseline(team=team, user=triager, run_pk=versions[1].pk, name="staging", is_default=True)

    assert list(Baseline.objects.order_by("name").values_list("name", "is_default")) == [
        ("production", False),
        ("staging", True),
    ]
    with pytest.raises(IntegrityError), transaction.atomic():
        Baseline.objects.update(is_default=True)


@pytest.mark.parametrize("status", ["cancelled", "limited", "running"])
def test_an_incomplete_run_becomes_a_baseline_only_by_force(team: Team, triager: User, status: str) -> None:
    made = outcomes("v1", a="P") | {"status": status}
    if status == "running":
        made.pop("finishedAt")
    run = store(team, made)

    with pytest.raises(BaselineRefused) as refused:
        set_baseline(team=team, user=triager, run_pk=run.pk, name="production")
    set_baseline(team=team, user=triager, run_pk=run.pk, name="production", is_forced=True)

    assert refused.value.code == "run_incomplete"
    assert BaselineChange.objects.get().is_forced


def test_another_teams_run_and_a_bad_name_are_refused(team: Team, triager: User, versions: Versions) -> None:
    theirs = store(factories.make_team(), outcomes("v1", a="P"))

    for run, name in ((theirs, "production"), (versions[0], " "), (versions[0], "x" * 101)):
        with pytest.raises(BaselineRefused):
            set_baseline(team=team, user=triager, run_pk=run.pk, name=name)

    assert not Baseline.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_another_reason_is_kept_with_the_one_before(team: Team, triager: User, versions: Versions) -> None:
    for reason in ("Released", "", "Released again"):
        set_baseline(team=team, user=triager, run_pk=versions[0].pk, name="production", reason=reason)

    assert Baseline.objects.get().reason == "Released again"
    assert list(BaselineChange.objects.order_by("pk").values_list("reason", flat=True)) == [
        "Released",
        "Released again",
    ]
    details = AuditEntry.objects.order_by("pk").values_list("details", flat=True)[1]
    assert details == {"before": {"reason": "Released"}, "after": {"reason": "Released again"}}


def test_the_trail_says_what_a_baseline_was_before(team: Team, triager: User, versions: Versions) -> None:
    set_baseline(team=team, user=triager, run_pk=versions[0].pk, name="staging", is_default=True)
    baseline = set_baseline(team=team, user=triager, run_pk=versions[0].pk, name="production", is_default=True)
    set_baseline(team=team, user=triager, run_pk=versions[1].pk, name="production", reason="Next")
    clear_baseline(team=team, user=triager, pk=baseline.pk, reason="Withdrawn")

    first, second = ({"run": str(run.pk), "version": run.version.fingerprint} for run in versions[:2])
    assert list(AuditEntry.objects.order_by("pk").values_list("details", flat=True)) == [
        first | {"isDefault": True, "reason": ""},
        first | {"isDefault": True, "reason": "", "formerDefault": "staging"},
        {"before": first | {"reason": ""}, "after": second | {"reason": "Next"}},
        {"before": second | {"isDefault": True, "reason": "Next"}, "reason": "Withdrawn"},
    ]
