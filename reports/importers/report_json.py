"""Report JSON (schemaVersion 1): checked member by member, case by case, in bounded memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from evalrunner.errors import EvaluationError
from evalrunner.models import EvaluationSuite
from evalrunner.report_checks import MAX_CASES
from evalrunner.reports import ReportCheck
from evalrunner.stream import CASES, Member, ReportTextError, read_members
from evalrunner.suites import parse_evaluation_suite

from reports.importers.containers import Content
from reports.importers.faults import fault, payload_faults, results_payloads
from reports.importers.refusals import MAX_FAULTS, Fault, ReportRejected

TakeCase = Callable[[Mapping[str, Any], int], None]
_HEAD = {"schemaVersion", "runId", "resumedFrom", "suite", "fingerprint", "target", "startedAt", "finishedAt", "status"}
_MEMBERS = _HEAD | {CASES, "assertions", "summary"}
_NO_SUITE = EvaluationSuite(id="-", name="-", scenarios=())  # stands for a faulty one while the rest is checked


@dataclass(frozen=True, slots=True)
class CheckedReport:
    """A report that holds to every rule. ``head``: its members without suite and cases; ``counts``: cases by status.

    ``format`` names the kind of file that it was read from.
    """

    head: Mapping[str, Any]
    suite: EvaluationSuite
    counts: Mapping[str, int]
    byte_size: int
    content_hash: str
    format: str = "report"


def check_report(content: Content, take_case: TakeCase) -> CheckedReport:
    """Read a report to its end and hand each sound case on; raise ReportRejected with the first faults.

    Cases are handed on before the rest is known to be sound: only the returned value says that all of it is.
    """
    reading = _Reading(take_case)
    try:
        for member in read_members(cast(BinaryIO, content)):
            reading.take(member)
    except ReportTextError as error:
        raise ReportRejected(
            error.code, f"This cannot be read as a report: {error}.", [(error.path, str(error))]
        ) from None
    return reading.finish(content)


class _Reading:
    def __init__(self, take_case: TakeCase) -> None:
        self.take_case = take_case
        self.check = ReportCheck()
        self.members: dict[str, Any] = {}
        self.faults: list[Fault] = []
        self.case_count = 0

    def take(self, member: Member) -> None:
        if member.position is not None:
            self._take_case(member.value, member.position)
        elif member.name == "suite":
            self._take_suite(member.value)
        elif member.name not in _MEMBERS:
            self._add((ascii(member.name)[1:-1][:80], "is a member that the format does not know"))
        else:
            self.members[member.name] = member.value
            if member.name == CASES and member.value != []:
                self._add(fault(CASES, member.value, CASES))

    def _take_case(self, case: Any, index: int) -> None:
        where = f"{CASES}.{index}"
        if index >= MAX_CASES:
            self._add((CASES, f"holds more than {MAX_CASES:,} cases"))
            self._refuse()
        self.case_count += 1
        found = len(self.check.case_findings)
        try:
            self.check.case(case, index)
        except EvaluationError as error:
            self._add(*(list(payload_faults(case, where, error.code)) or [(where, error.code)]))
        findings = self.check.case_findings[found:]
        self._add(*(fault(path, case, where) for path in findings))
        if not self.faults:
            self.take_case(case, index)

    def _take_suite(self, suite: Any) -> None:
        self.members["suite"] = _NO_SUITE
        try:
            self.members["suite"] = parse_evaluation_suite(suite)
        except EvaluationError as error:
            places = error.paths or ("",)
            if error.code != "EVALUATION_SUITE_INVALID":
                self._add(("suite", "is nested deeper than 60 levels or holds more than 500,000 values"))
            else:
                self._add(*(fault(f"suite.{path}" if path else "suite", suite, "suite") for path in places))

    def _add(self, *faults: Fault) -> None:
        """Note faults, each place once; give up at the limit: what follows would not be named."""
        known = set(self.faults)
        self.faults += [new for new in dict.fromkeys(faults) if new not in known]
        if len(self.faults) >= MAX_FAULTS:
            self._refuse()

    def _refuse(self) -> None:
        first = f"{self.faults[0][0] or 'the report'} {self.faults[0][1]}"
        more = len(self.faults) - 1
        others = f", and {more} more {'fault' if more == 1 else 'faults'}" if more else ""
        raise ReportRejected("report_invalid", f"This is no valid report: {first}{others}.", self.faults)

    def finish(self, content: Content) -> CheckedReport:
        if CASES not in self.members and not self.case_count:
            self._add(fault(CASES, {}))
        self._check_head()
        self._check_tail()
        if self.faults:
            self._refuse()
        self._check_counts()
        suite: EvaluationSuite = self.members.pop("suite")
        self.members.pop(CASES, None)
        counts = {name: self.check.counts[name] for name in self.members["summary"] if name != "total"}
        return CheckedReport(self.members, suite, counts, content.byte_size, content.content_hash)

    def _check_head(self) -> None:
        if "suite" not in self.members:
            self._add(fault("suite", self.members))
        self.check.head({"suite": _NO_SUITE} | self.members)
        self._add(*(fault(path, self.members) for path in self.check.head_findings))

    def _check_tail(self) -> None:
        try:
            self.check.tail(self.members)
        except EvaluationError:
            self._add(*_suite_result_faults(self.members))
        # Unknown members were named when they were met.
        self._add(*(fault(path, self.members) for path in self.check.tail_findings if path))

    def _check_counts(self) -> None:
        summary, counts = self.members["summary"], self.check.counts
        counted = {name: counts[name] for name in summary if name != "total"} | {"total": counts.total()}
        wrong = [
            (f"summary.{name}", f"says {summary[name]}, but the cases give {number}")
            for name, number in counted.items()
            if summary[name] != number
        ]
        if wrong:
            sentence = f"The summary disagrees with the cases: {wrong[0][0]} {wrong[0][1]}."
            raise ReportRejected("counts_wrong", sentence, wrong)


def _suite_result_faults(members: Mapping[str, Any]) -> list[Fault]:
    found = payload_faults({"assertions": members.get("assertions")}, "", "")
    return list(found) or [(place, "cannot be read") for place, _, _ in results_payloads(members, "")][:1]
