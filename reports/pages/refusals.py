"""A refused report as pages and the API show it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from reports.importers.refusals import ReportConflict, ReportRejected
from reports.text import storable

_TOO_LARGE = {"content_too_large", "item_too_large", "too_many_values"}
_NOT_ACCEPTABLE = {
    "report_invalid",
    "counts_wrong",
    "not_object",
    "member_twice",
    "too_deep",
    "no_results",
    "target_needed",
    "scenarios_invalid",
}


def status_of(rejection: ReportRejected) -> int:
    """Return the HTTP status of a refusal.

    409 contradicts the stored run; 413 too large; 415 another kind of file; 422 JSON that is no report; 400 no JSON.
    """
    if isinstance(rejection, ReportConflict):
        return 409
    if rejection.code in _TOO_LARGE:
        return 413
    if rejection.code == "not_a_report":
        return 415
    return 422 if rejection.code in _NOT_ACCEPTABLE else 400


@dataclass(frozen=True, slots=True)
class FaultLine:
    """A place in the report (stored form; "" is the whole of it) and what is wrong there."""

    path: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a file was refused; texts in stored form. ``code`` is the stable word of the API."""

    code: str
    sentence: str
    faults: tuple[FaultLine, ...]

    @classmethod
    def of(cls, rejection: ReportRejected) -> Self:
        return cls.stored(rejection.code, storable(rejection.sentence), stored_faults(rejection.faults))

    @classmethod
    def stored(cls, code: str, sentence: str, faults: Iterable[Sequence[str]]) -> Self:
        """Make a refusal of texts that are in stored form."""
        return cls(code, sentence, tuple(FaultLine(path, text) for path, text in faults))


def stored_faults(faults: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(storable(path), storable(sentence)) for path, sentence in faults]
