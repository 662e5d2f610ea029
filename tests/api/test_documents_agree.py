"""The site and the command line give one document for the same reports.

Two members cannot be the same. ``key`` of a scenario variant is its address on a site, and files have no addresses;
``label`` of a side is what a team called a version, and reports do not tell that. Everything else is compared.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from evalrunner.compare.judging import judge_files, judge_versions
from evalrunner.compare.policy import Policy, parse_policy
from evalrunner.compare.versions import Version, read_version

from reports.models import Run, Team
from reports.services.ingest import ingest_report
from tests import factories
from tests.runner.compare.files import family, write

pytestmark = pytest.mark.django_db

Document = dict[str, Any]
POLICY = """
completeness = 0.999
except_known_issues = true
[critical]
scenarios = ["no-such-scenario", "results-neurology"]
tags = ["smoke", "no-such-tag"]
[accept]
definitions = ["hours-dermatology", "luggage-mad-lis", "book-direct", "no-such-scenario"]
"""
HOSTILE = ("\ud83d half", "nul \0 in it", "\ufffe0000", "a|b `c`", "ünïcode", "x!", 'x"', "x", "x y", "Z", "\U0001f600")


def told(value: Any) -> Any:
    """Leave out what a site alone knows."""
    if isinstance(value, dict):
        return {name: told(each) for name, each in value.items() if name not in ("key", "label")}
    return [told(each) for each in value] if isinstance(value, list) else value


def of_site(client: Client, baseline: str, candidate: str) -> Document:
    answer = client.get("/api/v1/compare/document", {"baseline": baseline, "candidate": candidate})
    assert answer.status_code == 200, answer.content
    found: Document = json.loads(answer.content)
    return found


def stored(team: Team, path: str) -> Run:
    with Path(path).open("rb") as source:
        return Run.objects.get(pk=ingest_report(team=team, source=source, origin="upload", file_name=path).run_pk)


# ------------------------------------------------------------------------------------------------------- the families


@pytest.mark.parametrize(
    ("name", "accepted"), [("clinic", {"hours-dermatology"}), ("flights", {"luggage-mad-lis"}), ("refunds", set())]
)
def test_all_pairs_of_a_family_have_one_document_whatever_the_policy(
    reader: Client, team: Team, name: str, accepted: set[str]
) -> None:
    paths = [family(name, number) for number in range(1, 6)]
    sides: list[tuple[Version, Run]] = [(read_version([path]), stored(team, path)) for path in paths]

    seen = set()

    for policy, (before, old), (after, new) in itertools.product(("", POLICY), sides, sides):
        Team.objects.filter(pk=team.pk).update(policy=policy)
        expected = judge_versions(before, after, policy=parse_policy(policy))

        assert told(of_site(reader, str(old.pk), str(new.pk))) == told(expected)
        assert [expected[side]["label"] for side in ("baseline", "candidate")] == ["", ""]
        seen |= {each["scenarioId"] for each in expected["accepted"]}

    assert seen == accepted


# -------------------------------------------------------------------------------------------------- versions and texts


def test_versions_of_several_runs_have_one_document(reader: Client, team: Team, tmp_path: Path) -> None:
    """Attempts, lineages that never ended, starts in another order than the ids and than the imports."""

    def run(name: str, fingerprint: str, letters: str, start: str, **members: Any) -> str:
        made = factories.outcomes(fingerprint, a=letters, b=letters[::-1], c="P" * len(letters))
        return write(tmp_path / f"{name}.json", made | {"runId": name, "startedAt": start} | members)

    before = [
        run("z", "v1", "PF", "2026-03-02T09:00:00+02:00"),
        run("b", "v1", "FE", "2026-03-02T08:00:00.000Z"),
        run("a", "v1", "EP", "2026-03-02T08:00:00Z"),
        run("no-zone", "v1", "PP", "2026-03-02T07:30:00"),
        run("no-time", "v1", "NF", "yesterday"),
        run("stopped", "v1", "FF", "2026-03-01T08:00:00Z", status="cancelled"),
    ]
    after = [
        run("retry", "v2", "PP", "2026-03-03T10:00:00Z", resumedFrom="first"),
        run("first", "v2", "FN", "2026-03-03T09:00:00Z", status="cancelled"),
        run("other", "v2", "CC", "2026-03-03T08:00:00Z", status="limited"),
    ]
    runs = [stored(team, path) for path in (*before, *after)]

    found = of_site(reader, *(f"version:{run.version_id}" for run in (runs[0], runs[-1])))

    assert told(found) == told(judge_files(before, after))
    assert [each["runId"] for each in found["baseline"]["runs"]] == ["z", "no-zone", "a", "b", "no-time"]
    assert [each["runId"] for each in found["baseline"]["leftOut"]] == ["stopped"]


def test_texts_of_any_kind_stand_in_one_order(reader: Client, team: Team, tmp_path: Path) -> None:
    """Names that a database cannot hold, chosen variants, and failures that tie."""

    def side(fingerprint: str, places: list[int]) -> str:
        cases = []
        for number, (scenario, place) in enumerate(itertools.product(HOSTILE, places)):
            variants = {HOSTILE[place]: HOSTILE[place - 1], "other": HOSTILE[number % 3]} if place else {}
            wrong = {"id": f"check {HOSTILE[-place]} {number}", "passed": False}
            turns = [factories.turn("failed", step_id=HOSTILE[place], assertions=[wrong])]
            cases.append(factories.case("failed", scenario_id=scenario, variants=variants, turns=turns))
        target = {"id": "desk.agent", "fingerprint": fingerprint}
        made = factories.report(cases=cases, target=target, suite=factories.suite("greet"))
        return write(tmp_path / f"{fingerprint}.json", made)

    before, after = side("v1", [0, 2, 1, 4]), side("v2", [4, 3, 2, 0])

    found = of_site(reader, *(str(stored(team, path).pk) for path in (before, after)))

    assert told(found) == told(judge_files([before], [after], policy=Policy()))
