"""Several files of one side are pooled by the rule of versions, or refused with a sentence."""

from pathlib import Path
from typing import Any

import pytest
from evalrunner.compare.files import ReportFileError
from evalrunner.compare.judging import judge_files
from evalrunner.compare.policy import Policy
from evalrunner.compare.versions import read_version

from tests import factories
from tests.runner.compare.files import many, version, write


def test_runs_of_one_version_are_pooled(tmp_path: Path) -> None:
    before = [version(tmp_path / f"a{number}.json", many("PP")) for number in range(2)]
    after = version(tmp_path / "b.json", many("PPP"), "v2")

    document = judge_files(before, [after])

    assert document["rows"][0]["baseline"]["statuses"] == ["passed"] * 4
    assert [len(document[side]["runs"]) for side in ("baseline", "candidate")] == [2, 1]
    assert [each["kind"] for each in document["differences"]] == ["repetitions"]


def test_a_retry_never_improves_a_rate_and_decides_what_was_undecided(tmp_path: Path) -> None:
    first = version(tmp_path / "1.json", {"a": "F", "b": "N"}, runId="one", status="cancelled")
    retry = version(tmp_path / "2.json", {"a": "P", "b": "P"}, runId="two", resumedFrom="one")

    document = judge_files([first, retry], [version(tmp_path / "3.json", {"a": "P", "b": "P"}, "v2")])

    statuses = {row["scenarioId"]: row["baseline"]["statuses"] for row in document["rows"]}
    assert statuses == {"a": ["failed"], "b": ["passed"]}


def test_runs_stand_in_the_order_of_their_start_then_of_their_ids_however_they_were_given(tmp_path: Path) -> None:
    given = [("d", "no time"), ("c", "2026-03-02T10:00:00.000Z"), ("b", "2026-03-02T11:00:00+02:00")]
    given += [("a", "2026-03-02T10:00:00Z")]
    files = [version(tmp_path / f"{name}.json", {"a": "P"}, runId=name, startedAt=start) for name, start in given]

    assert [file.facts.run_id for file in read_version(files).files] == ["b", "a", "c", "d"]


def test_runs_that_never_ended_are_left_out_beside_others_and_named(tmp_path: Path) -> None:
    ended = version(tmp_path / "1.json", {"a": "P"}, runId="one")
    stopped = version(tmp_path / "2.json", {"a": "F"}, runId="two", status="cancelled")

    pooled, alone = read_version([ended, stopped]), read_version([stopped])

    assert [file.facts.run_id for file in pooled.files] == ["one"]
    assert [facts.run_id for facts in pooled.left_out] == ["two"]
    assert [file.facts.run_id for file in alone.files] == ["two"]


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"runId": "one"}, "run 'one' is given twice on this side"),
        ({"target": {"id": "desk.agent", "fingerprint": "v9"}}, "its fingerprint is 'v9', but that of"),
        ({"target": {"id": "other", "fingerprint": "v1"}}, "its target is 'other', but that of"),
        ({"suite": factories.suite("a", suite_id="other")}, "its suite is 'other', but that of"),
        ({"suite": factories.suite("a", name="Other")}, "its suite revision is"),
    ],
)
def test_files_that_are_no_runs_of_one_version_are_refused(tmp_path: Path, members: dict[str, Any], words: str) -> None:
    first = version(tmp_path / "1.json", {"a": "P"}, runId="one")
    second = version(tmp_path / "2.json", {"a": "P"}, **members)

    with pytest.raises(ReportFileError) as error:
        read_version([first, second])

    assert str(error.value).startswith(second)
    assert words in str(error.value)


def test_a_side_without_any_run_that_ended_is_refused(tmp_path: Path) -> None:
    files = [version(tmp_path / f"{number}.json", {"a": "P"}, status="cancelled") for number in range(2)]

    with pytest.raises(ReportFileError, match="none of the runs of this side is completed or limited"):
        read_version(files)


def test_a_run_on_both_sides_is_refused_unless_the_sides_are_the_same(tmp_path: Path) -> None:
    one, two = (version(tmp_path / f"{name}.json", {"a": "PF"}, runId=name) for name in ("one", "two"))

    with pytest.raises(ReportFileError, match="run 'one' stands on both sides"):
        judge_files([one, two], [one])
    assert judge_files([one, two], [two, one])["verdict"] == "pass"


def test_a_run_id_alone_does_not_make_two_files_the_same(tmp_path: Path) -> None:
    before = version(tmp_path / "1.json", {"a": "PP"}, runId="one")
    after = version(tmp_path / "2.json", {"a": "PF"}, runId="one")

    assert judge_files([before], [after])["verdict"] == "inconclusive"


def test_a_scenario_is_critical_by_the_tags_of_its_suite(tmp_path: Path) -> None:
    tagged = factories.suite("a") | {"scenarios": [factories.scenario("a", tags=["smoke"])]}
    files = [version(tmp_path / f"{letter}.json", {"a": letter}, letter, suite=tagged) for letter in "PF"]

    document = judge_files(files[:1], files[1:], policy=Policy(critical_tags=frozenset({"smoke"})))

    assert (document["verdict"], document["reasons"][0]["kind"]) == ("regressed", "critical_broken")
    assert document["rows"][0]["isCritical"]


def test_an_accepted_definition_counts_like_any_other(tmp_path: Path) -> None:
    changed = factories.suite(*many()) | {"name": "Other"}
    changed["scenarios"][0]["steps"][0]["input"] = {"text": "Asked otherwise"}
    before = version(tmp_path / "1.json", many())
    after = version(tmp_path / "2.json", many(), "v2", suite=changed)

    document = judge_files([before], [after])
    accepted = judge_files([before], [after], policy=Policy(accepted_definitions=frozenset({"s00"})))

    assert (document["redefined"], document["baseline"]["passRate"]["decided"]) == (1, 195)
    assert (accepted["redefined"], accepted["baseline"]["passRate"]["decided"]) == (0, 200)


def test_a_report_without_cases_is_told_in_words(tmp_path: Path) -> None:
    empty = write(tmp_path / "1.json", factories.report(""))
    other = write(tmp_path / "2.json", factories.report(""))

    document = judge_files([empty], [other])

    assert document["sentence"] == "Neither side has a case: not comparable."
