"""The gate over the API: the verdict by the team's policy or by one that comes along, and the files of a comparison."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from evalrunner.compare.judging import judge_files

from reports.models import Run, Team
from tests.factories import case, outcomes, report, suite
from tests.factories import stored as store

pytestmark = pytest.mark.django_db
Pair = tuple[Run, Run]


def letters(first: str, rest: str = "PPP") -> dict[str, str]:
    return {"first": first} | {f"s{number:02}": rest for number in range(19)}


@pytest.fixture
def pair(team: Team) -> Pair:
    return store(team, outcomes("v1", **letters("PP"))), store(team, outcomes("v2", **letters("FF")))


def sides(pair: Pair) -> dict[str, str]:
    return {"baseline": str(pair[0].pk), "candidate": str(pair[1].pk)}


def judged(reader: Client, pair: Pair, policy: Any) -> Any:
    return reader.post("/api/v1/gate", sides(pair) | {"policy": policy}, content_type="application/json")


def test_the_gate_answers_with_verdict_exit_code_and_a_summary(reader: Client, pair: Pair) -> None:
    answer = reader.get("/api/v1/gate", sides(pair)).json()

    assert (answer["verdict"], answer["exitCode"]) == ("inconclusive", 2)
    assert [reason["kind"] for reason in answer["reasons"]] == ["margin"]
    assert "first" in answer["markdown"]
    assert "/compare/?" in answer["url"]


@pytest.mark.parametrize(
    ("policy", "verdict", "code"),
    [
        ('[critical]\nscenarios = ["first"]', "regressed", 1),
        ({"critical": {"scenarios": ["first"]}}, "regressed", 1),
        ("margin = 0.5", "pass", 0),
        ({"min_pairs": 21, "margin": 1}, "inconclusive", 2),
        (None, "inconclusive", 2),
    ],
)
def test_a_policy_may_come_along(reader: Client, pair: Pair, policy: Any, verdict: str, code: int) -> None:
    answer = judged(reader, pair, policy).json()

    assert (answer["verdict"], answer["exitCode"]) == (verdict, code)


@pytest.mark.parametrize(
    "policy",
    [
        "margin = 2",
        "what",
        f"max_errors = {'9' * 5_000}",
        "a = " + "[" * 50_000,
        {"margins": 1},
        {"critical": {"tags": "smoke"}},
        {"max_errors": 10**4_000},
    ],
    ids=["range", "no TOML", "long number", "deep", "name", "no list", "large number"],
)
def test_a_policy_that_cannot_be_used_is_a_problem_with_its_place(reader: Client, pair: Pair, policy: Any) -> None:
    answer = judged(reader, pair, policy)

    assert (answer.status_code, answer.json()["code"]) == (422, "policy_invalid")
    assert answer.json()["paths"][0].startswith("body.policy.")


def test_without_one_the_teams_policy_judges(reader: Client, team: Team, pair: Pair) -> None:
    Team.objects.filter(pk=team.pk).update(policy='[critical]\nscenarios = ["first"]')

    answer = reader.get("/api/v1/gate", sides(pair)).json()

    assert (answer["verdict"], answer["reasons"][0]["kind"]) == ("regressed", "critical_broken")


def test_another_target_is_not_comparable(reader: Client, team: Team, pair: Pair) -> None:
    other = store(team, outcomes("v3", target_id="other", **letters("PPP")))

    answer = reader.get("/api/v1/gate", sides((pair[0], other))).json()

    assert (answer["verdict"], answer["exitCode"]) == ("not_comparable", 3)


def test_a_run_against_itself_passes(reader: Client, pair: Pair) -> None:
    assert reader.get("/api/v1/gate", sides((pair[1], pair[1]))).json()["verdict"] == "pass"


def test_the_site_says_what_the_command_line_says_of_the_same_reports(
    reader: Client, team: Team, tmp_path: Path
) -> None:
    made = [outcomes("v1", **letters("PPP", "PPF")), outcomes("v2", **letters("FFF", "PFF"))]
    paths = [tmp_path / f"{number}.json" for number in range(2)]
    for path, whole in zip(paths, made, strict=True):
        path.write_text(json.dumps(whole), encoding="utf-8")
    pair = store(team, made[0]), store(team, made[1])

    ours = reader.get("/api/v1/compare/document", sides(pair)).json()
    theirs = judge_files([str(paths[0])], [str(paths[1])])

    for name in (
        "verdict",
        "sentence",
        "reasons",
        "test",
        "change",
        "size",
        "completeness",
        "counts",
        "matrix",
        "plan",
    ):
        assert _without_keys(ours[name]) == _without_keys(theirs[name]), name
    assert [row["scenarioId"] for row in ours["rows"]] == [row["scenarioId"] for row in theirs["rows"]]


def _without_keys(value: Any) -> Any:
    """The site's rows have addresses, those of files have none."""
    if isinstance(value, dict):
        return {name: _without_keys(item) for name, item in value.items() if name != "key"}
    return [_without_keys(item) for item in value] if isinstance(value, list) else value


def test_csv_has_a_line_for_every_scenario_variant_and_no_formula(reader: Client, team: Team) -> None:
    cases = [case("passed", scenario_id="=cmd()"), case("failed", scenario_id="plain")]
    run = store(team, report(cases=cases, suite=suite("plain")))
    pair = (run, run)

    answer = reader.get("/api/v1/compare/document", sides(pair) | {"format": "csv"})

    lines = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(line["scenario"], line["class"]) for line in lines] == [("plain", "failing"), ("'=cmd()", "steady")]
    assert answer["Content-Disposition"] == 'attachment; filename="comparison.csv"'


def test_another_teams_run_does_not_exist(reader: Client, pair: Pair) -> None:
    theirs = store(Team.objects.create(name="Others"), outcomes(a="P"))

    assert reader.get("/api/v1/gate", sides((pair[0], theirs))).status_code == 404
