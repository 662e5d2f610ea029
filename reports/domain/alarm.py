"""The early alarm: a target that answers nothing but one error is not worth a whole run."""

from __future__ import annotations

from evalrunner.models import CaseStatus, EvaluationCase, TurnStatus

WATCHED_CASES = 5


class EarlyAlarm:
    """Watches the first cases that end in a run.

    It goes off when all of them, ``WATCHED_CASES`` or as many as the run has, end in the same error code. One case that
    ends otherwise silences it for good.
    """

    def __init__(self, total: int) -> None:
        self._watched = min(WATCHED_CASES, total)
        self._ended = 0
        self._code: str | None = None
        self._is_silenced = False

    def note(self, case: EvaluationCase) -> str | None:
        """Take note of a case that has ended; return why the run should stop, in words, at the one that decides it."""
        if self._is_silenced or self._ended >= self._watched:
            return None
        code = error_code_of(case)
        if code is None or self._code not in (None, code):
            self._is_silenced = True
            return None
        self._code = code
        self._ended += 1
        if self._ended < self._watched:
            return None
        return f"stopped early: {self._ended} of {self._ended} ended in {code}"


def error_code_of(case: EvaluationCase) -> str | None:
    """Return the code in which a case of status error ended: its own, else that of its first turn in error."""
    if case.status != CaseStatus.ERROR:
        return None
    if case.error_code is not None:
        return case.error_code
    codes = (turn.error_code for turn in case.turns if turn.status == TurnStatus.ERROR)
    results = (result.error_code for turn in case.turns for result in turn.assertions)
    ends = (result.error_code for result in case.assertions)
    return next((code for source in (codes, results, ends) for code in source if code), None)
