"""What differs between two sides beside the version, and which scenarios are measured otherwise than before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_FINISHED: Final = "completed"
_UNNAMED: Final = "not stated"
_CHOSEN: Final = "chosen by outcome"
FOLLOW_UP: Final = "follow_up"


@dataclass(frozen=True, slots=True)
class SideFacts:
    """One side as a whole: the distinct facts of its runs, in order of first appearance.

    ``repetitions`` are the numbers of cases a scenario variant has, most common first. ``is_follow_up``: some run chose
    its scenarios by their outcome, so that its rates say nothing about the version.
    """

    suite_ids: tuple[str, ...]
    suite_revisions: tuple[str, ...]
    target_ids: tuple[str, ...]
    statuses: tuple[str, ...]
    repetitions: tuple[int, ...] = ()
    options: Mapping[str, Any] | None = None
    is_follow_up: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same on both sides. ``kind`` is stable text for programs; texts may come from outside.

    Kinds: ``suite``, ``target``, ``suite_revision``, ``repetitions``, ``unfinished``, ``option``, and ``follow_up``,
    whose ``name`` is the side that is one: "baseline" or "candidate".
    """

    kind: str
    name: str
    baseline: str
    candidate: str


def differences(baseline: SideFacts, candidate: SideFacts) -> tuple[Difference, ...]:
    """List what differs; nothing when the sides compare without reservation."""
    found = [
        *_follow_ups(baseline, candidate),
        _texts("suite", "suite", baseline.suite_ids, candidate.suite_ids),
        _texts("target", "target", baseline.target_ids, candidate.target_ids),
        _texts("suite_revision", "suite revision", baseline.suite_revisions, candidate.suite_revisions),
        _repetitions(baseline.repetitions, candidate.repetitions),
        _unfinished(baseline.statuses, candidate.statuses),
        *_options(baseline.options, candidate.options),
    ]
    return tuple(difference for difference in found if difference is not None)


def redefined(baseline: Mapping[str, str], candidate: Mapping[str, str]) -> frozenset[str]:
    """Return the scenarios that both sides define, but not alike; given by scenario id with their digests."""
    return frozenset(name for name, digest in baseline.items() if name in candidate and candidate[name] != digest)


def usual_repetitions(counts: Iterable[int]) -> tuple[int, ...]:
    """Return how many cases scenario variants have: each number once, the most common first."""
    common = Counter(counts).items()
    return tuple(number for number, _times in sorted(common, key=lambda item: (-item[1], item[0])))


def _follow_ups(baseline: SideFacts, candidate: SideFacts) -> list[Difference]:
    words = [_CHOSEN if side.is_follow_up else "" for side in (baseline, candidate)]
    return [
        Difference(FOLLOW_UP, name, *words) for name, word in zip(("baseline", "candidate"), words, strict=True) if word
    ]


def _texts(kind: str, name: str, baseline: Sequence[str], candidate: Sequence[str]) -> Difference | None:
    if set(baseline) == set(candidate):
        return None
    return Difference(kind, name, ", ".join(baseline), ", ".join(candidate))


def _repetitions(baseline: Sequence[int], candidate: Sequence[int]) -> Difference | None:
    """Compare what is usual on either side: a variant here or there with fewer cases shows in the matrix."""
    if baseline[:1] == candidate[:1]:
        return None
    return Difference("repetitions", "repetitions", _number(baseline), _number(candidate))


def _number(repetitions: Sequence[int]) -> str:
    return str(repetitions[0]) if repetitions else "none"


def _unfinished(baseline: Sequence[str], candidate: Sequence[str]) -> Difference | None:
    if set(baseline) | set(candidate) <= {_FINISHED}:
        return None
    return Difference("unfinished", "status", ", ".join(baseline), ", ".join(candidate))


def _options(baseline: Mapping[str, Any] | None, candidate: Mapping[str, Any] | None) -> list[Difference]:
    """Compare options where both sides state any; imported reports do not."""
    if not baseline or not candidate:
        return []
    names = sorted({*baseline, *candidate})
    changed = [name for name in names if _stated(baseline, name) != _stated(candidate, name)]
    return [Difference("option", name, _stated(baseline, name), _stated(candidate, name)) for name in changed]


def _stated(options: Mapping[str, Any], name: str) -> str:
    return json.dumps(options[name], sort_keys=True, ensure_ascii=False) if name in options else _UNNAMED
