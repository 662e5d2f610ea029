"""What of a run's page is about other runs: how to go on with it, where it comes from, and what rates count then."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from evalrunner.compare import Tally, tally

from reports.domain.continuation import CONCLUDE, Verb, concludes, count_candidates, statuses_in_words
from reports.models import CASE_STATUSES, Execution, Run
from reports.pages.parts import Action
from reports.selectors.continuation import earlier_run
from reports.selectors.lineage import Relative, count_passed_on_retry, relatives_of
from reports.selectors.run import CaseFilters
from reports.services.continuing import find_hindrance
from reports.text import storable

_RELATIONS = {
    ("continues", "retry"): "Retry of",
    ("continues", ""): "Resumed from",
    ("continued", "retry"): "Retried in",
    ("continued", ""): "Resumed in",
    ("follows", ""): "Follow-up of",
    ("followed", ""): "Followed up in",
}
FOLLOW_UP_WORDS = {
    "failures": "its failures",
    "broken": "what a comparison found broken",
    "filter": "a filter on the outcome of its cases",
}


@dataclass(frozen=True, slots=True)
class RelativeLine:
    words: str
    at: datetime
    status: str
    href: str


@dataclass(frozen=True, slots=True)
class RunContinuation:
    """``actions`` lead to the pages of the verbs and to the form for a fresh run; ``notes`` say what this run is.

    ``hindrance`` says why there are no actions where there is something to resume or to retry; it may hold texts from
    outside (stored form).
    """

    actions: tuple[Action, ...]
    hindrance: str
    reruns: tuple[Action, ...]
    relatives: tuple[RelativeLine, ...]
    notes: tuple[str, ...]


def run_continuation(run: Run, filters: CaseFilters, *, execution: Execution | None, may_run: bool) -> RunContinuation:
    relatives = relatives_of(run)
    is_under_way = execution is not None and run.status in ("queued", "running")
    verbs = _verbs(run) if may_run and run.run_id and not is_under_way else ()
    hindrance = find_hindrance(earlier_run(run, execution)) if verbs else None
    return RunContinuation(
        actions=() if hindrance else verbs,
        hindrance=storable(hindrance.sentence) if hindrance else "",
        reruns=_reruns(run, filters) if may_run else (),
        relatives=tuple(map(_line, relatives)),
        notes=tuple(_notes(run, relatives)),
    )


def first_tally(run: Run) -> Tally | None:
    """Return the tally of the attempts that rates count, where they are not the run's own."""
    return tally(run.first_counts) if run.first_counts is not None else None


def _verbs(run: Run) -> tuple[Action, ...]:
    counts = {status: getattr(run, status) for status in CASE_STATUSES}
    retried = statuses_in_words(Verb.RETRY, counts)
    failed = counts["failed"] + counts["error"] + counts["blocked"] + counts["cancelled"]
    left = count_candidates(Verb.RESUME, counts)
    actions = []
    if failed:
        noun = "failed case" if counts["failed"] + counts["error"] == failed else "case"
        words = f"Retry {failed:,} {noun}{'' if failed == 1 else 's'}"
        actions.append(Action(words if noun != "case" else f"{words} ({retried})", _verb_href(run, Verb.RETRY)))
    if left:
        words = f"Resume {left:,} case{'' if left == 1 else 's'}"
        actions.append(Action(words, _verb_href(run, Verb.RESUME)))
    elif concludes(Verb.RESUME, run.status) and run.total:
        actions.append(Action(CONCLUDE, _verb_href(run, Verb.RESUME)))
    return tuple(actions)


def _verb_href(run: Run, verb: Verb) -> str:
    return reverse("continue-run", args=[run.pk, verb])


def _reruns(run: Run, filters: CaseFilters) -> tuple[Action, ...]:
    """Offer a fresh run of what the reader looks at: the filter of the cases table, or the failures."""
    members = {"rerun": str(run.pk)}
    if filters.is_narrow:
        return (Action("Rerun these", _new_run_href(members | {"only": "filter"} | filters.query())),)
    if run.failed + run.error:
        return (Action("Rerun the failures", _new_run_href(members | {"only": "failures"})),)
    return ()


def _new_run_href(members: dict[str, str]) -> str:
    return f"{reverse('new-run')}?{urlencode(members)}"


def _line(relative: Relative) -> RelativeLine:
    verb = "retry" if relative.verb == "retry" else ""
    words = _RELATIONS.get((relative.relation, verb)) or _RELATIONS[relative.relation, ""]
    return RelativeLine(words, relative.ordered_at, relative.status, reverse("run", args=[relative.pk]))


def _notes(run: Run, relatives: tuple[Relative, ...]) -> list[str]:
    notes = []
    if run.follow_up:
        notes.append(
            f"A follow-up: its scenarios were chosen by {FOLLOW_UP_WORDS.get(run.follow_up, 'their outcome')}. It "
            "stands beside its version, is not counted in it, and is never given to the gate."
        )
    first, own = first_tally(run), tally({status: getattr(run, status) for status in CASE_STATUSES})
    if first is not None and first != own:
        passed = count_passed_on_retry(run)
        marked = f" {passed:,} case{' passes' if passed == 1 else 's pass'} on retry." if passed else ""
        kind = next((each.verb for each in relatives if each.relation == "continues"), "")
        notes.append(
            f"{'A retry' if kind == 'retry' else 'It goes on with an earlier run'}: rates count the first decided "
            f"attempt of each case, {first.words}. After retries it would be {own.words}.{marked}"
        )
    return notes
