"""The part of a run's page that moves while the run goes on, and what it says once the run has ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from evalrunner.compare import tally

from reports.domain.grammar import Sign, sign_of
from reports.domain.harness.options import USUAL, HarnessOptions
from reports.domain.wording import counted, duration_in_words
from reports.models import CASE_STATUSES, Run
from reports.pages.live_pace import pace_words
from reports.pages.parts import Bar, Fact
from reports.pages.run_words import run_sentence
from reports.selectors import live as selector
from reports.selectors.executions import UNDER_WAY
from reports.selectors.live import EventRow, ExecutionRow, RunningCase, VariantProgress
from reports.text import storable

EVENTS_SHOWN = 60
WAITS_LONG_S = 10.0
SILENT_S = 12.0


@dataclass(frozen=True, slots=True)
class RunningLine:
    """A case that goes on; ``turn`` says which turn, of how many, and its step."""

    key: str
    name: str
    what: str
    turn: str
    href: str


@dataclass(frozen=True, slots=True)
class EventLine:
    sequence: int
    at: datetime
    words: str
    case_name: str
    what: str
    sign: Sign | None
    href: str


@dataclass(frozen=True, slots=True)
class ScenarioLine:
    scenario_id: str
    bar: Bar
    words: str


@dataclass(frozen=True, slots=True)
class Notice:
    """``level``: info, warning or error; ``text`` may hold texts from outside (stored form)."""

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class LivePart:
    """``seen`` stands for everything shown: a poll that would show the same is answered with nothing.

    ``is_under_way``: it waits or runs, and polls every ``poll_s`` seconds. ``events`` are the newest, ``events_left``
    how many came before. ``poll_href`` asks for the next state, ``answer`` is the page's sentence right now. ``news``
    says how many cases have ended since the page, whose tables do not move, was loaded. ``pace`` is "" while nothing
    tells it.
    """

    is_under_way: bool
    is_waiting: bool
    seen: str
    poll_s: int
    poll_href: str
    page_href: str
    cancel_href: str
    answer: str
    sentence: str
    bar: Bar
    pace: str
    news: str
    cases: tuple[RunningLine, ...]
    scenarios: tuple[ScenarioLine, ...]
    events: tuple[EventLine, ...]
    events_left: int
    notices: tuple[Notice, ...]
    may_cancel: bool
    cancel_words: str
    request: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a reader's page shows: ``seen`` of its live part, and how many cases had ended when it was loaded."""

    seen: str
    done: int

    @property
    def last_sequence(self) -> int:
        return _number(self.seen.partition("-")[0])

    @classmethod
    def parse(cls, seen: str, done: str) -> Shown:
        return cls(seen, _number(done))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def live_part(run: Run, *, may_cancel: bool, poll_s: int = 1) -> LivePart | None:
    """Return the live part of a run's page; None for a run that is not executed here."""
    execution = selector.execution_row(run)
    if execution is None:
        return None
    return _part(run, execution, may_cancel=may_cancel, shown=Shown("", _done(run)), poll_s=poll_s)


def live_update(run: Run, shown: Shown, *, may_cancel: bool, poll_s: int = 1) -> LivePart | None:
    """Return what has changed since it was shown, with the events that came after it; None if nothing has.

    Another pace of polling is a change too.
    """
    execution = selector.execution_row(run)
    if execution is None or seen_of(run, execution, poll_s) == shown.seen:
        return None
    return _part(run, execution, may_cancel=may_cancel, shown=shown, poll_s=poll_s)


def has_begun_since(run: Run, shown: Shown) -> bool:
    """Tell whether a page that shows a waiting run has nothing right any more: it has cases by now."""
    return "-queued-" in shown.seen and run.total > 0


def _done(run: Run) -> int:
    return run.total - run.pending - run.running


def seen_of(run: Run, execution: ExecutionRow, poll_s: int = 1) -> str:
    """Name the state that a reader has been shown; a header and an address can hold it."""
    signs = (
        execution.last_sequence,
        run.status,
        "cancelling" if execution.cancel_requested_at else "",
        "stopping" if execution.stop_reason else "",
        "late" if _is_late(run, execution) else "",
        *(f"{state}{number}" for state, number in execution.shards.items()),
    )
    pace = (f"every{poll_s}",) if poll_s > 1 else ()
    return "-".join(map(str, (*signs, *pace)))


def _part(run: Run, execution: ExecutionRow, *, may_cancel: bool, shown: Shown, poll_s: int) -> LivePart:
    is_under_way = run.status in UNDER_WAY
    events = selector.list_events(run, after=shown.last_sequence, limit=EVENTS_SHOWN)
    first = events[0].sequence if events else execution.last_sequence + 1
    counts = {status: getattr(run, status) for status in CASE_STATUSES}
    waiting = run.pending if run.total else execution.planned_cases
    variants = selector.progress_by_variant(run) if is_under_way else ()
    seen = seen_of(run, execution, poll_s)
    return LivePart(
        is_under_way=is_under_way,
        is_waiting=run.status == "queued",
        seen=seen,
        poll_s=poll_s,
        poll_href=f"{reverse('run-live', args=[run.pk])}?{urlencode({'seen': seen, 'done': shown.done})}",
        page_href=reverse("run", args=[run.pk]),
        cancel_href=reverse("cancel-run", args=[run.pk]),
        answer=run_sentence(run, tally(counts)),
        sentence=_sentence(run, execution, waiting),
        bar=Bar.of(counts if run.total else {"pending": execution.planned_cases}, is_tall=True),
        pace=pace_words(run, execution, variants),
        news=_news(_done(run) - shown.done),
        cases=tuple(running_line(run, case) for case in selector.running_cases(run)) if is_under_way else (),
        scenarios=_scenario_lines(variants),
        events=tuple(_event_line(run, event) for event in events),
        events_left=first - 1 - shown.last_sequence,
        notices=tuple(_notices(run, execution)),
        may_cancel=may_cancel and is_under_way and execution.cancel_requested_at is None,
        cancel_words=_cancel_words(run, execution.shards),
        request=_request_facts(execution),
    )


def _is_late(run: Run, execution: ExecutionRow) -> bool:
    """Tell whether something should have happened by now: a worker should have begun, or have been heard of."""
    now = timezone.now()
    if run.status == "queued":
        return now - run.created_at > timedelta(seconds=WAITS_LONG_S)
    heard_at = execution.heartbeat_at
    return run.status == "running" and heard_at is not None and now - heard_at > timedelta(seconds=SILENT_S)


# --------------------------------------------------------------------------------------------------------------- words


def _sentence(run: Run, execution: ExecutionRow, waiting: int) -> str:
    if run.status == "queued":
        planned = counted(execution.planned_cases, "case"), counted(execution.planned_turns, "turn")
        return f"Waiting for a worker: {', '.join(planned)}."
    if not run.total:
        return "Beginning."
    done = f"{_done(run):,} of {run.total:,} cases done, {run.running:,} running, {waiting:,} waiting."
    return f"{done} {_shard_words(execution.shards)}".rstrip()


def _shard_words(shards: Mapping[str, int]) -> str:
    """Say what the workers of a split run do; "" for a run that is not split."""
    if not shards:
        return ""
    words = [f"{shards[state]:,} {word}" for state, word in _SHARD_WORDS.items() if shards.get(state)]
    return f"{counted(sum(shards.values()), 'shard')}: {', '.join(words)}."


_SHARD_WORDS = {
    "working": "working",
    "queued": "waiting for a worker",
    "ended": "ended",
    "broken": "broken off",
    "lost": "without their worker",
}


def _news(ended: int) -> str:
    return f"{ended:,} case{' has' if ended == 1 else 's have'} ended since this page was loaded" if ended > 0 else ""


def running_line(run: Run, case: RunningCase) -> RunningLine:
    """Say which case goes on, and at which of its turns it is."""
    of = f" of {case.step_count}" if case.step_count else ""
    turn = f"turn {case.turn_count + 1}{of}" if case.step_id or not case.step_count else "final criteria"
    return RunningLine(
        key=f"live-case-{case.position}",
        name=case.name,
        what=_sample_words(case.variants, case.repetition),
        turn=f"{turn}: {case.step_id}" if case.step_id else turn,
        href=reverse("case", args=[run.pk, case.position]),
    )


def _sample_words(variants: Mapping[str, str], repetition: int) -> str:
    return ", ".join([*(f"{step}: {variant}" for step, variant in variants.items()), f"repetition {repetition + 1}"])


def _scenario_lines(variants: Sequence[VariantProgress]) -> tuple[ScenarioLine, ...]:
    counts: dict[str, Counter[str]] = {}
    for row in variants:
        counts.setdefault(row.scenario_id, Counter()).update(row.counts)
    return tuple(_scenario_line(scenario_id, counted) for scenario_id, counted in counts.items())


def _scenario_line(scenario_id: str, counts: Mapping[str, int]) -> ScenarioLine:
    waiting, running = counts.get("pending", 0), counts.get("running", 0)
    total = sum(counts.values())
    return ScenarioLine(scenario_id, Bar.of(counts), f"{total - waiting - running} of {total} done")


_EVENT_WORDS = {
    "run.started": "The run began",
    "case.started": "Case began",
    "turn.completed": "Turn done",
    "case.completed": "Case ended",
    "run.completed": "The run ended",
}


def _event_line(run: Run, event: EventRow) -> EventLine:
    words = _EVENT_WORDS.get(event.type, event.type)
    is_end = event.type == "case.completed" and event.case_status not in ("", "running", "pending")
    return EventLine(
        sequence=event.sequence,
        at=event.at,
        words=f"{words}: {event.step_id}" if event.step_id else words,
        case_name=event.case_name,
        what=_sample_words(event.variants, event.repetition) if event.position is not None else "",
        sign=sign_of(event.case_status, "case") if is_end else None,
        href=reverse("case", args=[run.pk, event.position]) if event.position is not None else "",
    )


def _cancel_words(run: Run, shards: Mapping[str, int]) -> str:
    if run.status == "queued":
        return "It has not begun: it is cancelled at once and has no report."
    if _do_all_wait(shards):
        return "Nothing of it is under way: it ends at once, cases not begun stay pending, and what is done stays."
    return "Turns in flight end as cancelled, cases not begun stay pending, and what is done stays."


_VERBS = {"resume": "a resume of an earlier run", "retry": "a retry of an earlier run"}


def _request_facts(execution: ExecutionRow) -> tuple[Fact, ...]:
    """Say what was asked for, as the runner was told."""
    options = execution.options
    return (
        Fact("Asked for as", _VERBS.get(execution.verb, "a fresh run")),
        Fact("Registered target", execution.target_name),
        Fact("Scenarios", ", ".join(options.scenario_ids) if options.scenario_ids is not None else "all"),
        Fact("Tags", ", ".join(map(storable, options.tags)) if options.tags is not None else "all"),
        Fact("Repetitions", f"{options.repetitions:,}"),
        *((Fact("Shards", f"{options.shards:,}"),) if options.shards > 1 else ()),
        Fact("Stop after failures", f"{options.max_failures:,}"),
        Fact("Time limit a turn", duration_in_words(options.timeout_ms)),
        Fact("External writes", "allowed" if options.allow_external_writes else "not allowed"),
        Fact("Early alarm", "on" if options.early_alarm else "off"),
        *(_harness_facts(options.harness) if options.harness != USUAL else ()),
    )


def _harness_facts(options: HarnessOptions) -> tuple[Fact, ...]:
    """Say what was asked of the scenario harness; "" leaves the choice to the target."""
    usual = "the usual one"
    return (
        Fact("Profile", storable(options.profile) or usual),
        Fact("Approval", options.approval_policy or usual),
        Fact("Sandbox", options.sandbox_policy or usual),
        Fact("Tags left out", ", ".join(map(storable, options.exclude_tags)) or "none"),
        Fact("Fail fast", "on" if options.fail_fast else "off"),
    )


def _notices(run: Run, execution: ExecutionRow) -> list[Notice]:
    notices = []
    if execution.cancel_requested_at is not None:
        notices.append(_cancel_notice(run, execution))
    if run.status == "rejected":
        reason = execution.stop_reason or "The runner refused the request before anything was executed"
        notices.append(Notice("error", f"It could not begin. {_as_sentence(reason)}{_fault(execution)}"))
    elif execution.stop_reason:
        notices.append(Notice("warning", _as_sentence(execution.stop_reason)))
    if run.status == "interrupted":
        notices.append(_interrupted_notice(execution))
    if run.status in UNDER_WAY and _is_late(run, execution):
        notices.append(_late_notice(run, execution))
    return notices


def _fault(execution: ExecutionRow) -> str:
    if not execution.error_code:
        return ""
    places = ", ".join(path or "the suite itself" for path in execution.error_paths)
    return f" {execution.error_code}{f' at {places}' if places else ''}."


def _cancel_notice(run: Run, execution: ExecutionRow) -> Notice:
    who = f" by {execution.cancel_requested_by}" if execution.cancel_requested_by else ""
    if run.status in UNDER_WAY:
        return Notice("info", f"Cancelling, as asked{who}. Turns in flight are being ended.")
    if run.status == "cancelled" and not run.run_id:
        return Notice("info", f"Cancelled{who} before it began: nothing was executed, and there is no report.")
    return Notice("info", f"Its end was asked for{who}.")


def _interrupted_notice(execution: ExecutionRow) -> Notice:
    what = f"It broke off:{_fault(execution)}" if execution.error_code else _vanished_words(execution.shards)
    return Notice("error", f"{what} Every stored turn is kept; nothing is repeated by itself.")


def _do_all_wait(shards: Mapping[str, int]) -> bool:
    """Tell whether what is left of a split run waits for workers, all of it."""
    return bool(shards.get("queued")) and not shards.get("working")


def _vanished_words(shards: Mapping[str, int]) -> str:
    if not shards.get("lost"):
        return "Its worker vanished."
    return f"The workers of {shards['lost']:,} of {counted(sum(shards.values()), 'shard')} vanished."


def _late_notice(run: Run, execution: ExecutionRow) -> Notice:
    if _do_all_wait(execution.shards):
        return Notice("warning", "No worker has taken its shards yet: all are busy, or none is running.")
    if run.status == "queued":
        return Notice("warning", "No worker has taken it yet: all are busy, or none is running. It begins by itself.")
    return Notice(
        "warning", "Its worker has not been heard of for a while. If it is gone, the run ends as interrupted."
    )


def _as_sentence(text: str) -> str:
    ending = "" if text.endswith(".") else "."
    return f"{text[:1].upper()}{text[1:]}{ending}"
