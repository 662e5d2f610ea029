"""One visual grammar for outcomes: the same word, symbol, order and class for a status on every page and export.

A sign's ``key`` is its CSS suffix (``badge--failed``) and the id of its symbol in the sprite (``#icon-failed``). Colour
is never alone: each sign has a word and a shape. Change classes may be asked for with ``_``, ``-`` or a blank.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sign:
    """How one status or change class is shown.

    ``tone`` names the colour tokens (``--passed``, ``--failed`` …); ``order`` its place among its kind; ``meaning`` one
    short sentence for tooltips and the help dialog.
    """

    key: str
    word: str
    tone: str
    order: int
    meaning: str


def _signs(*rows: tuple[str, str, str]) -> Mapping[str, Sign]:
    return {
        key: Sign(key=key, word=key.replace("-", " "), tone=tone, order=order, meaning=meaning)
        for order, (key, tone, meaning) in enumerate(rows)
    }


# The order of bars, matrices and lists of counts.
CASE_STATUSES = _signs(
    ("passed", "passed", "Every criterion held."),
    ("failed", "failed", "A criterion did not hold."),
    ("error", "error", "The conversation could not be held or judged."),
    ("skipped", "skipped", "Left out on purpose; undecided."),
    ("blocked", "blocked", "Not allowed to begin or to go on; undecided."),
    ("cancelled", "cancelled", "Stopped before it was decided."),
    ("running", "running", "In progress; undecided."),
    ("pending", "pending", "Not begun; undecided."),
)
MISSING = Sign("missing", "missing", "pending", 8, "Not present on this side.")

RUN_STATUSES = _signs(
    ("queued", "pending", "Waits for a worker."),
    ("running", "running", "In progress."),
    ("completed", "passed", "Every chosen case was attempted."),
    ("cancelled", "cancelled", "Stopped on request."),
    ("limited", "blocked", "Stopped at a limit of its request."),
    ("interrupted", "error", "Its worker vanished."),
    ("rejected", "error", "It could not begin."),
)

# What a reader wants to know of a run at a glance: outcome marks of lists and heads.
RUN_OUTCOMES = _signs(
    ("passed", "passed", "Completed; every case and every suite assertion passed."),
    ("not-passed", "failed", "Completed, but not everything passed."),
    ("running", "running", "In progress on this site."),
    ("queued", "pending", "Waits for a worker."),
    ("unfinished", "pending", "The imported report was still running."),
    ("cancelled", "cancelled", "Stopped on request."),
    ("limited", "blocked", "Stopped at a limit of its request."),
    ("interrupted", "error", "Its worker vanished."),
    ("rejected", "error", "It could not begin."),
)

# The order of groups in a comparison.
CHANGES = _signs(
    ("broken", "failed", "Always passed before, never now."),
    ("lost", "failed", "Decided before, undecided now."),
    ("unstable", "failed", "Always passed before, only sometimes now."),
    ("worse", "failed", "Passes less often than before."),
    ("failing-differently", "error", "Failed before and now, for another reason."),
    ("fixed", "passed", "Never passed before, always now."),
    ("stabilised", "passed", "Sometimes passed before, always now."),
    ("better", "passed", "Passes more often than before."),
    ("gained", "running", "Undecided before, decided now."),
    ("added", "running", "Present on the candidate's side only."),
    ("removed", "cancelled", "Present on the baseline's side only."),
    ("failing", "skipped", "Never passed, before or now."),
    ("undecided", "pending", "Decided on neither side."),
    ("steady", "skipped", "The same rate on both sides."),
)
# A group of rows rather than a class: they keep theirs.
REDEFINED = Sign(
    "redefined", "redefined", "blocked", len(CHANGES), "Measured otherwise than before; left out of rates."
)

_ALL = {**RUN_STATUSES, **RUN_OUTCOMES, **CHANGES, **CASE_STATUSES, "missing": MISSING, "redefined": REDEFINED}
_KINDS: Mapping[str, Mapping[str, Sign]] = {
    "case": {**CASE_STATUSES, "missing": MISSING},
    "run": RUN_STATUSES,
    "outcome": RUN_OUTCOMES,
    "change": {**CHANGES, "redefined": REDEFINED},
}


def sign_of(word: str, kind: str = "") -> Sign:
    """Return the sign of a status, outcome or change class; ``kind`` is case, run, outcome, change or empty for any.

    An unknown word is shown as itself in the quietest tone, so that a newer report never breaks a page.
    """
    key = str(word).replace("_", "-").replace(" ", "-")
    signs = _KINDS.get(kind, _ALL)
    return signs.get(key) or Sign(key, str(word), "pending", len(signs), "")


def outcome_of(status: str, *, is_passing: bool, is_executed: bool) -> Sign:
    """Return what became of a run; ``is_executed`` tells that this site runs it, so that "running" is true of it."""
    if status == "completed":
        return RUN_OUTCOMES["passed" if is_passing else "not-passed"]
    if status == "running" and not is_executed:
        return RUN_OUTCOMES["unfinished"]
    return sign_of(status, "outcome")
