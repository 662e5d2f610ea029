"""The cases of a run as a comparison needs them: scenario variants in order, each with its statuses and failures.

Gathered once from cases that have come to rest, kept as one small value, and pooled with those of other runs. Most
variants of a large run look alike, and share one sample. Texts are in stored form; a failure signature is named by its
primary key. Statuses stand in the order that pairs cases: repetition, then place in the report; signatures in the order
in which they first appear there, and scenario variants as ``evalrunner.compare`` orders those of files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

from evalrunner.compare import STATUS_ORDER, Sample
from evalrunner.compare.outcomes import FAILING_STATUSES

from reports.text import restored

Name: TypeAlias = tuple[str, str]
"""The scenario id of a scenario variant, and the JSON text of its chosen variants."""

_SHAPE: Final = 2  # of the stored value; what has another one is gathered anew
_LETTERS: Final = {str(status): letter for status, letter in zip(STATUS_ORDER, "PFESBCRN", strict=True)}
_STATUSES: Final = {letter: status for status, letter in _LETTERS.items()}


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The scenario variants of some cases, in order of their names, with their samples.

    ``variants`` are primary keys; ``names`` and ``samples`` stand in the same order.
    """

    variants: Sequence[int]
    names: Sequence[Name]
    samples: Sequence[Sample]

    def to_data(self) -> dict[str, Any]:
        """Return the value as JSON: each distinct scenario id, text and sample once."""
        scenarios, chosen, samples = _Once(), _Once(), _Once()
        return {
            "shape": _SHAPE,
            "variants": list(self.variants),
            "scenarioOf": [scenarios.place(scenario) for scenario, _chosen in self.names],
            "chosenOf": [chosen.place(text) for _scenario, text in self.names],
            "sampleOf": [samples.place(sample) for sample in self.samples],
            "scenarios": list(scenarios.places),
            "chosen": list(chosen.places),
            "samples": [
                [
                    "".join(map(_LETTERS.__getitem__, each.statuses)),
                    [[int(key), number] for key, number in each.signatures],
                ]
                for each in samples.places
            ],
        }


class _Once:
    """Gives each distinct value a place, in order of appearance."""

    def __init__(self) -> None:
        self.places: dict[Any, int] = {}

    def place(self, value: object) -> int:
        return self.places.setdefault(value, len(self.places))


def outcomes_of_data(data: Mapping[str, Any]) -> Outcomes | None:
    """Read what ``to_data`` gave; None where another version of the site wrote it."""
    if data.get("shape") != _SHAPE:
        return None
    samples = [
        Sample(tuple(map(_STATUSES.__getitem__, letters)), tuple((str(key), number) for key, number in signatures))
        for letters, signatures in data["samples"]
    ]
    scenarios, chosen = data["scenarios"], data["chosen"]
    return Outcomes(
        variants=data["variants"],
        names=[
            (scenarios[scenario], chosen[text])
            for scenario, text in zip(data["scenarioOf"], data["chosenOf"], strict=True)
        ],
        samples=[samples[place] for place in data["sampleOf"]],
    )


def gathered(cases: Iterable[tuple[int, str, int | None]], names: Mapping[int, Name]) -> Outcomes:
    """Gather cases, given in the order that pairs them as (variant, status, signature), under the names of variants."""
    statuses: dict[int, list[str]] = {}
    failures: dict[int, dict[str, int]] = {}
    for variant, status, signature in cases:
        statuses.setdefault(variant, []).append(status)
        if signature is not None and status in FAILING_STATUSES:
            counted = failures.setdefault(variant, {})
            counted[str(signature)] = counted.get(str(signature), 0) + 1
    alike: dict[Sample, Sample] = {}
    variants = sorted(statuses, key=lambda each: _order(names[each]))
    found = (Sample(tuple(statuses[each]), tuple(failures.get(each, {}).items())) for each in variants)
    samples = [alike.setdefault(sample, sample) for sample in found]
    return Outcomes(variants, [names[variant] for variant in variants], samples)


# ------------------------------------------------------------------------------------------------------------- pooling


def pooled(parts: Sequence[Outcomes]) -> dict[int, Sample]:
    """Return the samples of one side, whose runs are given in their order."""
    if len(parts) == 1:
        return dict(zip(parts[0].variants, parts[0].samples, strict=True))
    members: dict[int, tuple[Sample, ...]] = {}
    for part in parts:
        for variant, sample in zip(part.variants, part.samples, strict=True):
            members[variant] = (*members.get(variant, ()), sample)
    alike: dict[tuple[Sample, ...], Sample] = {}
    return {
        variant: alike.setdefault(each, _joined(each)) if each not in alike else alike[each]
        for variant, each in members.items()
    }


def _joined(samples: Sequence[Sample]) -> Sample:
    failures: dict[str, int] = {}
    for sample in samples:
        for key, number in sample.signatures:
            failures[key] = failures.get(key, 0) + number
    statuses = tuple(status for sample in samples for status in sample.statuses)
    return Sample(statuses, tuple(failures.items()))


def names_in_order(parts: Sequence[Outcomes]) -> dict[int, Name]:
    """Return the names of all variants of both sides, in their order."""
    names: dict[int, Name] = {}
    is_in_order = True
    for place, part in enumerate(parts):
        if place and part.variants == parts[0].variants:
            continue
        is_in_order = not place
        names.update(zip(part.variants, part.names, strict=True))
    return names if is_in_order else dict(sorted(names.items(), key=lambda item: _order(item[1])))


def _order(name: Name) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what ``VariantId`` holds, as a plain tuple, which is made faster."""
    scenario, chosen = name
    return restored(scenario), _chosen(chosen)


@lru_cache(maxsize=4_096)
def _chosen(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((restored(step), restored(variant)) for step, variant in json.loads(text).items()))
