"""Why content from outside is refused."""

from collections.abc import Sequence

Fault = tuple[str, str]
MAX_FAULTS = 50


class ReportRejected(ValueError):
    """Content that cannot be imported. ``code`` is stable, ``sentence`` says why, ``faults`` are places and reasons.

    A place is a path with dots (``cases.0.turns.1.input``); "" is the whole report. At most the first 50 are named.
    Codes: those of ``evalrunner.stream`` for text that is no JSON object; ``compression_broken``, ``content_too_large``
    and ``not_a_report`` (another kind of file) for the file as a whole; ``report_invalid`` for a JSON object that is no
    report; ``counts_wrong`` where only the summary disagrees with the cases.
    """

    def __init__(self, code: str, sentence: str, faults: Sequence[Fault] = ()) -> None:
        super().__init__(sentence)
        self.code, self.sentence, self.faults = code, sentence, list(faults[:MAX_FAULTS])


class ReportConflict(ReportRejected):
    """A report that contradicts the stored run of the same ``runId``; the one fault is the first difference.

    Codes: ``run_is_later`` (an earlier snapshot than the stored one), ``run_differs``, ``run_is_executed_here``.
    """
