"""Results of the scenario harness: rows one a line, with or without their summary, and its report JSON.

The rows name neither what was evaluated nor the suite, and they do not repeat what was asked; all of that is ``given``.
Without the scenario file each scenario is known by its id alone; the sentences of failed expectations are kept either
way. A repeated id is a repetition. There is no run id and mostly no time: the id of the run is a hash of the content,
so the same results are one run, in whichever of the formats they come.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, BinaryIO, NoReturn, cast

from evalrunner.errors import EvaluationError
from evalrunner.harness.comparison import check_result_row, check_summary
from evalrunner.harness.errors import HarnessSetupError
from evalrunner.harness.scenarios import Scenario
from evalrunner.harness.strictjson import StrictJsonError, parse_strict, plain
from evalrunner.models import CASE_STATUSES, EvaluationSuite
from evalrunner.report_checks import MAX_CASES
from evalrunner.reports import ReportCheck
from evalrunner.stream import ReportTextError, read_members
from evalrunner.suites import MAX_SCENARIOS

from reports.domain.harness.cases import case_of_row
from reports.domain.harness.names import SUITE_ID, SUMMARY, suite_id
from reports.domain.harness.suites import (
    ScenariosUnusable,
    read_scenario_suite,
    scenarios_of,
    suite_of_definitions,
    unknown_definition,
)
from reports.domain.harness.totals import Totals
from reports.importers.containers import Content
from reports.importers.given import LONGEST, Given
from reports.importers.harness_lines import LineFault, read_lines
from reports.importers.refusals import MAX_FAULTS, Fault, ReportRejected
from reports.importers.report_json import CheckedReport, TakeCase

FORMAT = "harness"
NO_TIME = "unknown"
_RESULTS = "results"


def check_harness_rows(content: Content, take_case: TakeCase, given: Given) -> CheckedReport:
    """Read result rows, one a line; ReportRejected names the lines at fault."""
    reading = _Reading(take_case, given)
    try:
        for number, text in read_lines(content):
            reading.take_line(f"line {number}", text)
    except LineFault as fault:
        reading.refuse_text(fault.code, str(fault), f"line {fault.line}")
    return reading.finish(content)


def check_harness_report(content: Content, take_case: TakeCase, given: Given) -> CheckedReport:
    """Read the report JSON of the harness; ReportRejected names the places at fault."""
    reading = _Reading(take_case, given)
    members: set[str] = set()
    try:
        for member in read_members(cast(BinaryIO, content), listed=_RESULTS):
            members.add(member.name)
            if member.position is not None:
                reading.take_row(f"{_RESULTS}.{member.position}", member.value)
            elif member.name == SUMMARY:
                reading.take_summary(SUMMARY, member.value)
            elif member.name == _RESULTS and member.value != []:
                reading.add((_RESULTS, "must be a list of result rows"))
    except ReportTextError as error:
        reading.refuse_text(error.code, str(error), error.path)
    for name in (SUMMARY, _RESULTS):
        if name not in members:
            reading.add((name, "is missing"))
    return reading.finish(content)


class _Reading:
    """What has been read so far: the scenarios met, the counts, the faults, the hash of all rows."""

    def __init__(self, take_case: TakeCase, given: Given) -> None:
        self.given = given
        self._take_case = take_case
        self._known = _KnownScenarios(given)
        self._check = ReportCheck()
        self._faults: list[Fault] = []
        self._hash = hashlib.sha256()
        self._totals = Totals()
        self._summary: Mapping[str, Any] | None = None
        self._started_at = NO_TIME

    # -------------------------------------------------------------------------------------------------------- reading

    def take_line(self, place: str, text: str) -> None:
        try:
            value = parse_strict(text)
        except StrictJsonError as error:
            self.add((place, f"is not JSON: {error}"))
            return
        found = plain(value)
        is_row = not (isinstance(found, Mapping) and "scenario_id" not in found and "success_rate" in found)
        if self._summary is not None:
            self.add((place, "comes after the summary, which is the last line"))
        elif is_row:
            self.take_row(place, value)
        else:
            self.take_summary(place, value)

    def take_row(self, place: str, value: object) -> None:
        """Check a row and hand its case on."""
        try:
            check_result_row(value)
        except HarnessSetupError as error:
            self.add((place, f"is no result row: {str(error).removeprefix('json error: ')}"))
            return
        row = plain(value)
        if self._totals.rows >= MAX_CASES:
            self.add((place, f"is more than the {MAX_CASES:,} rows that a run may have"))
            self.refuse()
        position = self._totals.add(row)
        self._hash.update(json.dumps(row, sort_keys=True, separators=(",", ":")).encode() + b"\n")
        self._note_time(row)
        self._hand_on(place, row, position)

    def take_summary(self, place: str, value: object) -> None:
        try:
            check_summary(value)
        except HarnessSetupError as error:
            self.add((place, f"is no summary: {str(error).removeprefix('json error: ')}"))
            return
        self._summary = plain(value)

    def _hand_on(self, place: str, row: Mapping[str, Any], position: int) -> None:
        own_id, scenario, repetition = self._known.place_of(row["scenario_id"])
        if len(self._known.definitions) > MAX_SCENARIOS:
            self.add((place, f"brings more than the {MAX_SCENARIOS:,} scenarios that a suite may have"))
            self.refuse()
        case = case_of_row(row, scenario_id=own_id, scenario=scenario, repetition=repetition, id=f"row-{position}")
        found = len(self._check.case_findings)
        try:
            self._check.case(case, position)
        except EvaluationError as error:
            self.add((place, f"is nested deeper than 60 levels or holds more than 500,000 values ({error.code})"))
            return
        for path in self._check.case_findings[found:]:
            self.add((place, f"cannot be stored as a case: {path}"))
        if not self._faults:
            self._take_case(case, position)

    def _note_time(self, row: Mapping[str, Any]) -> None:
        if self._started_at == NO_TIME:
            first = next((each for each in row.get("trace") or () if isinstance(each, Mapping)), {})
            moment = first.get("timestamp")
            self._started_at = moment if isinstance(moment, str) and moment else NO_TIME

    # --------------------------------------------------------------------------------------------------------- faults

    def add(self, fault: Fault) -> None:
        self._faults.append(fault)
        if len(self._faults) >= MAX_FAULTS:
            self.refuse()

    def refuse(self) -> NoReturn:
        place, sentence = self._faults[0]
        more = len(self._faults) - 1
        others = f", and {more} more {'fault' if more == 1 else 'faults'}" if more else ""
        text = f"These are no valid results of the scenario harness: {place} {sentence}{others}."
        raise ReportRejected("report_invalid", text, self._faults)

    def refuse_text(self, code: str, reason: str, place: str) -> NoReturn:
        text = f"These cannot be read as results of the scenario harness: {place}: {reason}."
        raise ReportRejected(code, text, [*self._faults, (place, reason)])

    # ------------------------------------------------------------------------------------------------------------ end

    def finish(self, content: Content) -> CheckedReport:
        if self._faults:
            self.refuse()
        self._check_given()
        if not self._totals.rows:
            raise ReportRejected("no_results", "These results of the scenario harness hold no row.")
        self._check_counts()
        counts = dict(self._check.counts)
        return CheckedReport(self._head(), self._suite(), counts, content.byte_size, content.content_hash, FORMAT)

    def _check_given(self) -> None:
        """Target and version must be said, or nothing could be compared with these results."""
        faults = [
            (name, "is missing" if not value.strip() else f"has more than {LONGEST} characters")
            for name, value in (("target", self.given.target), ("fingerprint", self.given.fingerprint))
            if not value.strip() or len(value) > LONGEST
        ]
        if faults:
            reasons = ", ".join(f"{name} {reason}" for name, reason in faults)
            raise ReportRejected(
                "target_needed",
                "Results of the scenario harness do not say what was evaluated. Give the target and the fingerprint of "
                f"its exact version with them: {reasons}.",
                faults,
            )

    def _check_counts(self) -> None:
        """A file that was cut off between two rows is told by its summary."""
        if self._summary is None:
            return
        counted = {"total": self._totals.rows, "passed": self._totals.passed, "failed": self._totals.failed}
        wrong = [
            (f"{SUMMARY}.{name}", f"says {self._summary[name]}, but the rows give {number}")
            for name, number in counted.items()
            if self._summary[name] != number
        ]
        if wrong:
            sentence = f"The summary disagrees with the rows: {wrong[0][0]} {wrong[0][1]}."
            raise ReportRejected("counts_wrong", sentence, wrong)

    def _suite(self) -> EvaluationSuite:
        if self._known.suite is not None:
            return self._known.suite
        try:
            return suite_of_definitions(self._known.definitions, id=self.given.suite or SUITE_ID)
        except ScenariosUnusable as error:
            raise ReportRejected("report_invalid", str(error), [("suite", str(error))]) from None

    def _head(self) -> dict[str, Any]:
        given, counts = self.given, self._check.counts
        told = self._told_summary()
        identity = [given.target, given.fingerprint, given.suite, given.scenarios, told, self._hash.hexdigest()]
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
        head: dict[str, Any] = {
            "schemaVersion": 1,
            "runId": f"harness-{digest[:32]}",
            "fingerprint": "scenario-harness",
            "target": {"id": given.target, "fingerprint": given.fingerprint},
            "startedAt": self._started_at,
            "status": "completed",
        }
        if told is not None:
            evidence = {"summary": told}
            head["assertions"] = [{"id": SUMMARY, "label": "Summary as written", "passed": True, "evidence": evidence}]
        return head | {"summary": {"total": counts.total()} | {status: counts[status] for status in CASE_STATUSES}}

    def _told_summary(self) -> Mapping[str, Any] | None:
        """Return the summary where it says something else than the rows: comparisons go by what is written."""
        return self._summary if self._summary is not None and self._summary != self._totals.summary() else None


class _KnownScenarios:
    """The scenarios of the given file or, without one, those met so far; and how often each was met."""

    def __init__(self, given: Given) -> None:
        self.suite: EvaluationSuite | None = None
        self.definitions: list[dict[str, Any]] = []
        self._scenarios: dict[str, list[tuple[str, Scenario]]] = {}
        self._met: Counter[str] = Counter()
        if given.scenarios:
            self._read(given)

    def _read(self, given: Given) -> None:
        try:
            self.suite = read_scenario_suite(given.scenarios, id=given.suite or SUITE_ID)
            read = scenarios_of(self.suite)
        except ScenariosUnusable as error:
            raise ReportRejected("scenarios_invalid", str(error), [("scenarios", str(error))]) from None
        for own_id, scenario in read.items():
            self._scenarios.setdefault(scenario.id, []).append((own_id, scenario))

    def place_of(self, scenario_id: str) -> tuple[str, Scenario | None, int]:
        """Return the suite's id of a row, its scenario where it is known, and which repetition of it the row is."""
        number = self._met[scenario_id]
        self._met[scenario_id] += 1
        known = self._scenarios.get(scenario_id)
        if known is not None:
            own_id, scenario = known[number % len(known)]
            return own_id, scenario, number // len(known)
        own_id = suite_id(scenario_id)
        if number == 0 and self.suite is None:
            self.definitions.append(unknown_definition(scenario_id, own_id))
        return own_id, None, number
