"""One pair of turns, ready to be shown: what was said on either side, what differs, and how it was judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalrunner.compare import IgnoreRules, TurnMark, without

from reports.domain.anchors import turn_anchor
from reports.domain.criterion_pairs import CriterionPair, criterion_pairs
from reports.domain.dialogue import Block, Utterance, agent_utterance, user_utterance
from reports.domain.expressions import Expression, expressions
from reports.domain.json_tree import Steps
from reports.pages.compare_values import PieceView, ValuePair, lone_value, text_pair, value_pair
from reports.selectors.compare_case import Entry, TurnSketch

Turn = Mapping[str, Any]
Scenario = Mapping[str, Any] | None
NO_TURN: Turn = {"input": {}, "assertions": ()}
_MARKS = {
    TurnMark.EQUAL: "equal",
    TurnMark.CHANGED: "changed",
    TurnMark.ONLY_LEFT: "only in the baseline",
    TurnMark.ONLY_RIGHT: "only in the candidate",
    TurnMark.UNREAD: "not looked at",
}


@dataclass(frozen=True, slots=True)
class TurnHead:
    """A turn of one side in its head line; texts in stored form. ``href`` leads to it in its own case."""

    number: int
    status: str
    error_code: str
    duration_ms: float
    href: str


@dataclass(frozen=True, slots=True)
class SpeechPair:
    """What one speaker said on both sides: what is the same once, what differs side by side.

    ``shared_text`` is None where the texts differ or there is none.
    """

    shared_text: tuple[PieceView, ...] | None
    shared_blocks: tuple[Block, ...]
    left_text: tuple[PieceView, ...] | None
    right_text: tuple[PieceView, ...] | None
    left_blocks: tuple[Block, ...]
    right_blocks: tuple[Block, ...]

    @property
    def has_shared(self) -> bool:
        return self.shared_text is not None or bool(self.shared_blocks)

    @property
    def has_left(self) -> bool:
        return self.left_text is not None or bool(self.left_blocks)

    @property
    def has_right(self) -> bool:
        return self.right_text is not None or bool(self.right_blocks)


@dataclass(frozen=True, slots=True)
class TurnPairView:
    """Two aligned turns in full. ``differs`` says in words what differs; ``follows`` marks what may follow from it."""

    anchor: str
    base: str
    step_id: str
    mark: str
    mark_words: str
    left: TurnHead | None
    right: TurnHead | None
    differs: str
    is_first: bool
    follows: bool
    user: SpeechPair
    agent: SpeechPair
    observation: ValuePair | None
    observation_words: str
    criteria: tuple[CriterionPair, ...]
    same_criteria: tuple[CriterionPair, ...]
    is_difference: bool


def rail_mark(entry: Entry) -> str:
    """Return what the rail shows: a TurnMark with dashes, or "flipped" for a pair that was judged otherwise."""
    return "flipped" if has_flipped(entry) else entry.mark.value.replace("_", "-")


def mark_words(mark: TurnMark) -> str:
    return _MARKS[mark]


def turn_pair(
    entry: Entry,
    turns: tuple[Turn | None, Turn | None],
    scenarios: tuple[Scenario, Scenario],
    hrefs: tuple[str, str],
    *,
    is_first: bool,
    follows: bool,
    ignored: IgnoreRules,
    asked: Steps | None = None,
    base: str = "",
) -> TurnPairView:
    """Decide how a pair of turns is shown, without ``ignored`` members; a missing turn is None on its side.

    ``asked`` is a path of the observations that must be among what is shown; ``base`` the address that shows the pair.
    """
    left, right = turns[0] or NO_TURN, turns[1] or NO_TURN
    criteria = criterion_pairs(_criteria(left, scenarios[0]), _criteria(right, scenarios[1]))
    shown = entry.right or entry.left
    assert shown is not None  # an entry has at least one side
    return TurnPairView(
        anchor=entry_anchor(entry),
        base=base,
        step_id=shown.step_id,
        mark=rail_mark(entry),
        mark_words=mark_words(entry.mark),
        left=_head(entry.left, hrefs[0]),
        right=_head(entry.right, hrefs[1]),
        differs=differs_in_words(entry),
        is_first=is_first,
        follows=follows,
        user=_speech(turns, user_utterance, "input", ignored),
        agent=_speech(turns, agent_utterance, "observation", ignored),
        observation=_observations(left, right, ignored, entry, asked),
        observation_words=_observation_words(turns),
        criteria=tuple(pair for pair in criteria if pair.change != "same"),
        same_criteria=tuple(pair for pair in criteria if pair.change == "same"),
        is_difference=entry.mark is not TurnMark.EQUAL,
    )


def entry_anchor(entry: Entry) -> str:
    """Return the id of a pair: the number of the candidate's turn, else of the baseline's."""
    if entry.right is not None:
        return turn_anchor(entry.right.position + 1)
    assert entry.left is not None  # an entry has at least one side
    return turn_anchor(entry.left.position + 1, is_left=True)


def has_flipped(entry: Entry) -> bool:
    """Tell whether a pair was judged otherwise, not only said otherwise."""
    difference = entry.difference
    return difference is not None and (difference.status or difference.flipped > 0)


def differs_in_words(entry: Entry) -> str:
    """Say what differs in a pair: "status, observation, 1 criterion flipped"; "" where nothing does."""
    difference = entry.difference
    if difference is None:
        return mark_words(entry.mark)
    flips = difference.flipped
    criteria = f"{flips} {'criterion' if flips == 1 else 'criteria'} flipped" if flips else "evidence of criteria"
    parts = [
        (difference.status, "status"),
        (difference.input, "input"),
        (difference.observation, "observation"),
        (difference.criteria or flips > 0, criteria),
    ]
    return ", ".join(words for is_so, words in parts if is_so)


def _head(turn: TurnSketch | None, href: str) -> TurnHead | None:
    if turn is None:
        return None
    return TurnHead(turn.position + 1, turn.status, turn.error_code, turn.duration_ms, href)


def _said(turn: Turn | None, read: Callable[[Turn], Utterance], member: str, ignored: IgnoreRules) -> Utterance:
    if turn is None or member not in turn:
        return Utterance(None, ())
    return read(without(turn[member], ignored, is_observation=member == "observation"))


def _speech(
    turns: tuple[Turn | None, Turn | None], read: Callable[[Turn], Utterance], member: str, ignored: IgnoreRules
) -> SpeechPair:
    left, right = (_said(turn, read, member, ignored) for turn in turns)
    has_both = None not in turns
    text = text_pair(left.text, right.text)
    is_shared = has_both and text.is_equal
    shared = tuple(block for block in left.blocks if has_both and block in right.blocks)
    return SpeechPair(
        shared_text=text.left if is_shared else None,
        shared_blocks=shared,
        left_text=None if is_shared else text.left,
        right_text=None if is_shared else text.right,
        left_blocks=tuple(block for block in left.blocks if block not in shared),
        right_blocks=tuple(block for block in right.blocks if block not in shared),
    )


def _observations(left: Turn, right: Turn, ignored: IgnoreRules, entry: Entry, asked: Steps | None) -> ValuePair | None:
    if "observation" not in left or "observation" not in right:
        return lone_value(left.get("observation"), right.get("observation"), asked, entry_anchor(entry))
    baseline = turn_anchor(entry.left.position + 1, is_left=True) if entry.left else ""
    owners = (baseline, entry_anchor(entry))
    return value_pair(left["observation"], right["observation"], ignored=ignored, owners=owners, asked=asked)


def _observation_words(turns: tuple[Turn | None, Turn | None]) -> str:
    """Say which side recorded no observation; "" where both did or one has no such turn."""
    if None in turns:
        return ""
    sides = zip(("baseline", "candidate"), turns, strict=True)
    missing = [name for name, turn in sides if "observation" not in (turn or {})]
    if len(missing) == 2:
        return "Neither side recorded an observation."
    return f"The {missing[0]} recorded no observation." if missing else ""


def _criteria(turn: Turn, scenario: Scenario) -> tuple[Expression, ...]:
    steps: Sequence[Mapping[str, Any]] = (scenario or {}).get("steps") or ()
    asked = next((step.get("assertions") for step in steps if step["id"] == turn.get("stepId")), None)
    return expressions(turn["assertions"], asked)
