"""The side by side of one scenario variant: two conversations aligned, opened where they part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.urls import reverse
from evalrunner.compare import Row, TurnMark, same_value, typical_pair

from reports.domain.criterion_pairs import CriterionPair, criterion_pairs
from reports.domain.expressions import Expression, expressions
from reports.domain.grammar import Sign, sign_of
from reports.domain.harness.cases import without_row
from reports.models import Team
from reports.pages.compare_conversation import Block, ConversationView, OutlineEntry, RailPart
from reports.pages.compare_frame import Address, chosen_words, comparison_crumbs
from reports.pages.compare_turns import differs_in_words, has_flipped
from reports.pages.parts import Crumb, VersionName
from reports.selectors import compare_case as selector
from reports.selectors.compare import StoredComparison
from reports.selectors.compare_case import Asked, CaseSketch, Entry
from reports.selectors.compare_filters import RowFilters, matching_rows
from reports.selectors.policies import ignored_of_team

_REPETITIONS_SHOWN = 30


@dataclass(frozen=True, slots=True)
class RepetitionLink:
    """One repetition that could stand on a side; ``text`` says which and how it ended."""

    number: int
    sign: Sign
    text: str
    href: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class SideHead:
    """One side: its version, the case that is shown (None where it has none), and the repetitions to choose from."""

    role: str
    version: VersionName
    case: CaseSketch | None
    case_href: str
    words: str
    repetitions: tuple[RepetitionLink, ...]
    previous_href: str
    next_href: str
    previous_key: str
    next_key: str


@dataclass(frozen=True, slots=True)
class SideBySidePage:
    """``parts_nowhere``: no turn or criterion differs; links to the divergence end at the answer, which says so."""

    title: str
    crumbs: tuple[Crumb, ...]
    name: str
    scenario_id: str
    chosen: str
    sign: Sign
    counts: str
    sentence: str
    is_identical: bool
    left: SideHead
    right: SideHead
    rail: tuple[RailPart, ...]
    blocks: tuple[Block, ...]
    criteria: tuple[CriterionPair, ...]
    same_criteria: tuple[CriterionPair, ...]
    is_first_at_end: bool
    parts_nowhere: bool
    first_href: str
    flip_href: str
    comparison_href: str
    place: str
    previous_href: str
    next_href: str
    is_redefined: bool
    base: str
    missing: tuple[str, ...]

    @property
    def outline(self) -> tuple[OutlineEntry, ...]:
        """All turns of the rail, folded ones included."""
        return tuple(entry for part in self.rail for entry in part.entries)


def side_by_side_page(
    stored: StoredComparison, row: Row[int], filters: RowFilters, *, team: Team, address: Address, asked: Asked
) -> SideBySidePage:
    """Read and decide all that the side by side of one row shows."""
    sides = (stored.baseline, stored.candidate)
    name, facts = stored.variants[row.variant], stored.facts_of(row.variant)
    offered = selector.sketches(sides, row.variant)
    left, right = chosen_pair(offered, asked)
    ignored = ignored_of_team(team)
    entries = selector.entries(left.pk if left else None, right.pk if right else None, ignored=ignored)
    scenarios = selector.definitions(sides, name.scenario_id)
    results = selector.case_results(left.pk if left else None, right.pk if right else None)
    criteria = criterion_pairs(*map(_scenario_criteria, results, scenarios))
    first = next((place for place, entry in enumerate(entries) if entry.mark is not TurnMark.EQUAL), None)
    view = ConversationView(address, name.key, (left, right), entries, scenarios, first, asked, ignored)
    is_same_end = same_value(*results)
    is_first_at_end = first is None and not is_same_end and bool(criteria)
    order = [each.variant for each in matching_rows(stored, filters, team=team)]
    return SideBySidePage(
        title=name.scenario_id,
        crumbs=comparison_crumbs(*sides, Crumb(name.scenario_id), href=address.page()),
        name=facts.name if facts else _case_name(right or left),
        scenario_id=name.scenario_id,
        chosen=chosen_words(name.chosen),
        sign=sign_of(row.change, "change"),
        counts=f"{row.judgement.baseline.short_words} → {row.judgement.candidate.short_words}",
        sentence=sentence(left, right, entries, is_same_end=is_same_end),
        is_identical=bool(left and right) and first is None and is_same_end,
        left=_side_head("baseline", 0, stored, offered[0], left, view),
        right=_side_head("candidate", 1, stored, offered[1], right, view),
        rail=view.rail(),
        blocks=view.blocks(),
        criteria=tuple(pair for pair in criteria if pair.change != "same"),
        same_criteria=tuple(pair for pair in criteria if pair.change == "same"),
        is_first_at_end=is_first_at_end,
        parts_nowhere=first is None and not is_first_at_end,
        first_href="" if first is None and is_same_end else view.first_href(),
        flip_href=view.flip_href(),
        comparison_href=f"{address.page()}#row-{name.key}",
        place=_place(order, row.variant),
        previous_href=_neighbour(stored, order, row.variant, -1, address),
        next_href=_neighbour(stored, order, row.variant, 1, address),
        is_redefined=row.is_redefined,
        base=view.base,
        missing=(
            *_missing_repetitions(asked, (left, right)),
            *(() if view.has_asked_turn() else (f"There is no turn {asked.turn} here.",)),
        ),
    )


def _missing_repetitions(asked: Asked, shown: tuple[CaseSketch | None, CaseSketch | None]) -> Iterator[str]:
    for name, wanted, case in zip(("baseline", "candidate"), (asked.left, asked.right), shown, strict=True):
        if wanted and (case is None or case.rank != wanted):
            instead = "; a typical one is shown" if case is not None else ""
            yield f"There is no repetition {wanted:,} of the {name} here{instead}."


def _scenario_criteria(results: selector.Results, scenario: selector.Definition) -> tuple[Expression, ...]:
    return expressions(without_row(results), (scenario or {}).get("assertions"))


def _case_name(case: CaseSketch | None) -> str:
    return case.name if case is not None else ""


def chosen_pair(
    offered: tuple[Sequence[CaseSketch], Sequence[CaseSketch]], asked: Asked
) -> tuple[CaseSketch | None, CaseSketch | None]:
    """Return the asked repetitions, else the typical ones; an unknown rank asks for nothing."""
    typical = typical_pair(*([case.as_repetition() for case in side] for side in offered))
    ranks = [
        wanted if any(case.rank == wanted for case in side) else usual.rank if usual else 0
        for wanted, usual, side in zip((asked.left, asked.right), typical, offered, strict=True)
    ]
    left, right = (
        next((case for case in side if case.rank == rank), None) for rank, side in zip(ranks, offered, strict=True)
    )
    return left, right


# ------------------------------------------------------------------------------------------------------------ sentence


def sentence(left: CaseSketch | None, right: CaseSketch | None, entries: Sequence[Entry], *, is_same_end: bool) -> str:
    """Say in words where the two conversations part."""
    if left is None or right is None:
        return f"Only the {'baseline' if right is None else 'candidate'} has this scenario variant."
    changed = [entry for entry in entries if entry.mark is not TurnMark.EQUAL]
    if not changed:
        return _of_equal_turns(left, right, is_same_end=is_same_end)
    if changed[0].mark is TurnMark.UNREAD:
        return f"No difference before {_where(changed[0])}; what follows is too large to be looked at here."
    if not _conversation_changed(changed):
        return f"Nothing in the conversation changed, but the verdict did, first at {_where(changed[0])}."
    flipped = next((entry for entry in changed if has_flipped(entry)), changed[0])
    flip = "" if flipped is changed[0] else f" The first verdict flips at {_where(flipped)}."
    return f"The conversations part at {_where(changed[0])}: {differs_in_words(changed[0])}.{flip}"


def _of_equal_turns(left: CaseSketch, right: CaseSketch, *, is_same_end: bool) -> str:
    if not left.turns:
        return f"Neither side has a turn: {left.status} → {right.status}."
    if not is_same_end or left.status != right.status:
        return "Nothing in the conversation changed, but the verdict did: see the criteria of the whole conversation."
    return "The two conversations are identical, and so is how they were judged."


def _conversation_changed(changed: Sequence[Entry]) -> bool:
    return any(entry.difference is None or entry.difference.is_conversation for entry in changed)


def _where(entry: Entry) -> str:
    turn = entry.right or entry.left
    assert turn is not None  # an entry has at least one side
    return f"turn {turn.position + 1} ({turn.step_id})"


# ---------------------------------------------------------------------------------------------------------- both sides


def _side_head(
    role: str,
    number: int,
    stored: StoredComparison,
    offered: Sequence[CaseSketch],
    case: CaseSketch | None,
    view: ConversationView,
) -> SideHead:
    side = (stored.baseline, stored.candidate)[number]
    at = next((place for place, each in enumerate(offered) if case is not None and each.rank == case.rank), 0)
    member = ("b", "c")[number]
    return SideHead(
        role=role,
        version=VersionName(side.target_id, side.fingerprint, side.label),
        case=case,
        case_href=reverse("case", args=[case.run, case.position]) if case else "",
        words=_side_words(case, len(offered)),
        repetitions=tuple(_repetition(each, each is case, member, view) for each in _around(offered, at)),
        previous_href=view.href(**{member: str(offered[at - 1].rank)}) if at > 0 else "",
        next_href=view.href(**{member: str(offered[at + 1].rank)}) if at + 1 < len(offered) else "",
        previous_key=("{", "[")[number],
        next_key=("}", "]")[number],
    )


def _around(offered: Sequence[CaseSketch], at: int) -> Sequence[CaseSketch]:
    start = max(0, min(at - _REPETITIONS_SHOWN // 2, len(offered) - _REPETITIONS_SHOWN))
    return offered[start : start + _REPETITIONS_SHOWN]


def _side_words(case: CaseSketch | None, offered: int) -> str:
    if case is None:
        return "not present on this side"
    reason = case.failing or case.skip_reason or case.error_code
    why = f": {reason}" if reason and case.status != "passed" else ""
    return f"repetition {case.rank} of {offered}{why}"


def _repetition(case: CaseSketch, is_shown: bool, member: str, view: ConversationView) -> RepetitionLink:
    sign = sign_of(case.status, "case")
    text = f"repetition {case.rank}: {sign.word}"
    return RepetitionLink(case.rank, sign, text, view.href(**{member: str(case.rank)}), is_shown)


# ----------------------------------------------------------------------------------------------- rows of the comparison


def _place(order: Sequence[int], variant: int) -> str:
    return f"{order.index(variant) + 1:,} of {len(order):,}" if variant in order else "outside the filter"


def _neighbour(stored: StoredComparison, order: Sequence[int], variant: int, by: int, address: Address) -> str:
    """Return the side by side of the next or previous row in the current filter; "" at an end."""
    if variant not in order:
        return ""
    at = order.index(variant) + by
    if not 0 <= at < len(order):
        return ""
    return f"{address.case(stored.variants[order[at]].key)}#divergence"
