"""The page of one case: the conversation as a dialogue, decided turn by turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from evalrunner.compare.outcomes import FAILING_STATUSES

from reports.domain.dialogue import Block, Utterance, agent_utterance, user_utterance
from reports.domain.expressions import Expression, expressions
from reports.domain.harness.cases import row_of_results, without_row
from reports.domain.json_tree import JsonNode, json_tree
from reports.models import Run
from reports.pages.case_place import AskedPath, RawPart, case_parts, missing_words, turn_parts
from reports.pages.grid_rows import CellView, cell_view, history_words
from reports.pages.harness_row import HarnessRowView, harness_row_view
from reports.pages.parts import Crumb, OutsideText, Pips
from reports.pages.path_links import raw_href
from reports.pages.run_cases import case_pips
from reports.pages.run_links import case_href, run_crumbs
from reports.pages.run_words import variants_words
from reports.selectors import case as selector
from reports.selectors.case import Neighbours, TurnRow, WholeCase
from reports.selectors.grid import GridVariant, variant_history
from reports.selectors.harness import is_of_harness
from reports.selectors.run import CaseFilters, Pip

OUTLINE_TURNS = 60
STRIP_VERSIONS = 12
INLINE_NODES = 60  # of the JSON that stands in the dialogue's place

_SENTENCES = {
    "passed": "Passed",
    "failed": "Failed",
    "error": "Ended in an error",
    "skipped": "Skipped",
    "blocked": "Blocked",
    "cancelled": "Cancelled",
    "running": "Running",
    "pending": "Not begun",
}


@dataclass(frozen=True, slots=True)
class Speech:
    """What one side said, ready to show; ``text`` is None where nothing reads like speech."""

    text: OutsideText | None
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, said: Utterance, whole_href: str) -> "Speech":
        text = OutsideText.of(said.text, whole_href=whole_href) if said.text is not None else None
        return cls(text, said.blocks)


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn. ``failing`` are the top-level results that did not pass, ``criteria`` all of them.

    ``input_tree`` and ``observation_tree`` stand where nothing reads like speech. ``is_first_failure`` marks where the
    page opens.
    """

    number: int
    anchor: str
    step_id: str
    status: str
    error_code: str
    duration_ms: float
    user: Speech
    agent: Speech
    has_observation: bool
    input_tree: JsonNode | None
    observation_tree: JsonNode | None
    criteria: tuple[Expression, ...]
    failing: tuple[Expression, ...]
    criteria_words: str
    raw_parts: tuple[RawPart, ...]
    input_href: str
    observation_href: str
    is_first_failure: bool


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    turn: TurnRow
    number: int
    href: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class CasePage:
    run: Run
    case: WholeCase
    title: str
    sentence: str
    crumbs: tuple[Crumb, ...]
    variants: str
    tags: tuple[str, ...]
    turns: tuple[TurnView, ...]
    outline: tuple[OutlineEntry, ...]
    turn_count: int
    earlier_href: str
    later_href: str
    shown_words: str
    outline_words: str
    failure_href: str
    criteria: tuple[Expression, ...]
    criteria_words: str
    reason: str
    pips: Pips | None
    strip: tuple[CellView, ...]
    strip_words: str
    grid_href: str
    previous_repetition_href: str
    next_repetition_href: str
    previous_href: str
    next_href: str
    previous_failure_href: str
    next_failure_href: str
    run_href: str
    filter_words: str
    raw_parts: tuple[RawPart, ...]
    missing: tuple[str, ...]
    filters: CaseFilters
    harness: HarnessRowView | None


def case_page(
    run: Run, case: WholeCase, filters: CaseFilters, *, at: int | None, asked: AskedPath | None = None
) -> CasePage:
    """Read and decide all that the page of a case shows.

    ``at`` is the place of a turn that must be shown; ``asked`` is a path that must be, in that turn or in the case.
    """
    window = selector.turn_window(case.outline, at=at)
    first_failure = next((turn.position for turn in case.outline if turn.status in FAILING_STATUSES), None)
    turns = tuple(
        _turn_view(run, case, position, data, first_failure, asked)
        for position, data in zip(window, selector.turn_data(case.pk, window), strict=False)
    )
    around = selector.neighbours(run, case.position, filters)
    results = case.data.get("assertions") or ()
    row = row_of_results(results) if is_of_harness(run) else None
    shown = results if row is None else without_row(results)
    criteria = expressions(shown, (case.scenario or {}).get("assertions"))
    pips = selector.repetitions(run, case.variant_id)
    raw_parts = case_parts(run, case, asked)
    return CasePage(
        run=run,
        case=case,
        title=f"{case.scenario_id} · repetition {case.repetition + 1}",
        sentence=_sentence(case, first_failure),
        variants=variants_words(case.variants),
        tags=tuple((case.scenario or {}).get("tags") or ()),
        turns=turns,
        outline=_outline(run, case, filters, window),
        turn_count=len(case.outline),
        earlier_href=_turn_href(run, case, filters, window.start - 1) if window.start else "",
        later_href=_turn_href(run, case, filters, window.stop) if window.stop < len(case.outline) else "",
        shown_words=f"turns {window.start + 1} to {window.stop} of {len(case.outline)}",
        outline_words="" if len(case.outline) <= OUTLINE_TURNS else "those shown, and all that did not pass",
        failure_href=_failure_href(run, case, filters, window, first_failure, criteria),
        criteria=criteria,
        criteria_words=held_words(criteria),
        reason=case.skip_reason or case.error_code,
        pips=case_pips(run, pips) if len(pips) > 1 else None,
        **_strip(run, case),
        previous_repetition_href=_sibling_href(run, pips, case.position, -1),
        next_repetition_href=_sibling_href(run, pips, case.position, 1),
        crumbs=run_crumbs(run, Crumb(case.scenario_id), Crumb(f"repetition {case.repetition + 1}")),
        harness=harness_row_view(row) if row is not None else None,
        raw_parts=raw_parts,
        missing=missing_words(asked, (*raw_parts, *(part for turn in turns for part in turn.raw_parts))),
        **_ways(run, case, filters, around),
    )


def _ways(run: Run, case: WholeCase, filters: CaseFilters, around: Neighbours) -> dict[str, Any]:
    def href(position: int | None, within: CaseFilters | None) -> str:
        return case_href(run, position, within) if position is not None else ""

    query = filters.query()
    return {
        "previous_href": href(around.previous, filters),
        "next_href": href(around.next, filters),
        "previous_failure_href": href(around.previous_failure, None),
        "next_failure_href": href(around.next_failure, None),
        "run_href": reverse("run", args=[run.pk]) + (f"?{urlencode(query)}" if query else "") + "#cases",
        "filter_words": "All cases in this filter" if filters.is_narrow else "All cases of the run",
        "filters": filters,
    }


def _sentence(case: WholeCase, first_failure: int | None) -> str:
    said = _SENTENCES[case.status]
    place = f" at turn {first_failure + 1} of {len(case.outline)}" if first_failure is not None else ""
    reason = case.failing or case.skip_reason or case.error_code
    return f"{said}{place}{f': {reason}' if reason and case.status != 'passed' else ''}"


def _failure_href(
    run: Run,
    case: WholeCase,
    filters: CaseFilters,
    window: range,
    first_failure: int | None,
    criteria: Sequence[Expression],
) -> str:
    """Return where the reader sees what failed first; "" where nothing did."""
    if first_failure is not None:
        within = first_failure in window
        return f"#turn-{first_failure + 1}" if within else _turn_href(run, case, filters, first_failure)
    return "#criteria" if any(not each.passed for each in criteria) else ""


def held_words(criteria: Sequence[Expression]) -> str:
    """Say how many criteria held: "3 of 4 criteria hold"."""
    held = sum(each.passed for each in criteria)
    return f"{held} of {len(criteria)} {'criterion holds' if len(criteria) == 1 else 'criteria hold'}"


def _strip(run: Run, case: WholeCase) -> dict[str, Any]:
    """Return how this scenario variant fared over the newest versions of the target, oldest first."""
    grid = variant_history(run=run, variant_pk=case.variant_id, versions=STRIP_VERSIONS)
    variant = GridVariant(case.variant_id, case.variant_key, "", case.scenario_id, case.variants)
    views = [cell_view(grid, place, variant) for place in range(len(grid.columns))]
    shown = tuple(view for view in views if view is not None)
    query = urlencode({"suite": run.revision.suite_id, "all": 1, "q": case.scenario_id})
    return {
        "strip": shown if len(shown) > 1 else (),
        "strip_words": history_words(grid, case.variant_id),
        "grid_href": f"{reverse('target-grid', args=[run.version.target_id])}?{query}",
    }


def _sibling_href(run: Run, pips: Sequence[Pip], position: int, step: int) -> str:
    places = [pip.position for pip in pips]
    at = places.index(position) + step if position in places else -1
    return case_href(run, places[at]) if 0 <= at < len(places) else ""


def _turn_href(run: Run, case: WholeCase, filters: CaseFilters, position: int) -> str:
    query = filters.query() | {"turn": str(position + 1)}
    return f"{reverse('case', args=[run.pk, case.position])}?{urlencode(query)}#turn-{position + 1}"


def _outlined(outline: Sequence[TurnRow], window: range) -> list[TurnRow]:
    """Choose the turns of the outline: all of a conversation of usual length, else the shown ones and what failed."""
    if len(outline) <= OUTLINE_TURNS:
        return list(outline)
    elsewhere = [turn.position for turn in outline if turn.status != "passed" and turn.position not in window]
    chosen = {*window, *elsewhere[:OUTLINE_TURNS]}
    return [turn for turn in outline if turn.position in chosen]


def _outline(run: Run, case: WholeCase, filters: CaseFilters, window: range) -> tuple[OutlineEntry, ...]:
    return tuple(
        OutlineEntry(
            turn,
            turn.position + 1,
            f"#turn-{turn.position + 1}" if turn.position in window else _turn_href(run, case, filters, turn.position),
            turn.position in window,
        )
        for turn in _outlined(case.outline, window)
    )


def _turn_view(
    run: Run,
    case: WholeCase,
    position: int,
    data: Mapping[str, Any],
    first_failure: int | None,
    asked: AskedPath | None,
) -> TurnView:
    observation = data.get("observation")
    user, agent = user_utterance(data["input"]), agent_utterance(observation)
    criteria = expressions(data["assertions"], _step_assertions(case, data["stepId"]))
    return TurnView(
        number=position + 1,
        anchor=f"turn-{position + 1}",
        step_id=data["stepId"],
        status=data["status"],
        error_code=data.get("errorCode") or "",
        duration_ms=data["durationMs"],
        user=Speech.of(user, raw_href(run, case.position, f"{position}.input")),
        agent=Speech.of(agent, raw_href(run, case.position, f"{position}.observation")),
        has_observation=observation is not None,
        input_tree=json_tree(data["input"], budget=INLINE_NODES) if user.text is None else None,
        observation_tree=_observation_tree(agent, observation),
        criteria=criteria,
        failing=tuple(each for each in criteria if not each.passed),
        criteria_words=held_words(criteria),
        raw_parts=turn_parts(run, case.position, position, data, asked),
        input_href=raw_href(run, case.position, f"{position}.input") + "&pointer=",
        observation_href=raw_href(run, case.position, f"{position}.observation") + "&pointer=",
        is_first_failure=position == first_failure,
    )


def _observation_tree(agent: Utterance, observation: Mapping[str, Any] | None) -> JsonNode | None:
    if observation is None or agent.text is not None:
        return None
    return json_tree(observation, budget=INLINE_NODES)


def _step_assertions(case: WholeCase, step_id: str) -> Sequence[Mapping[str, Any]] | None:
    steps = (case.scenario or {}).get("steps") or ()
    return next((step.get("assertions") for step in steps if step["id"] == step_id), None)
