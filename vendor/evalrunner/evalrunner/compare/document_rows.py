"""Rows of the comparison document, and the names that whoever compares gives to what it identifies.

A row is {scenarioId, variants, name, tags, class, group, isCritical, isKnown, isRedefined, drop, fewerDecided,
adjustedP, baseline, candidate}. ``adjustedP`` is Fisher's exact p adjusted over all rows that enter the test
(Benjamini and Hochberg); null for the others. A side is {passed, decided, undecided, rate, words, statuses, failures}:
``statuses`` in rank order, at most 100 of them; ``failures`` by signature, the commonest first, at most 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from evalrunner.compare.engine import Row
from evalrunner.compare.fisher import adjusted, fisher_exact
from evalrunner.compare.outcomes import Sample
from evalrunner.compare.tally import Tally
from evalrunner.compare.verdict import pairs_of

STATUSES_LISTED: Final = 100
FAILURES_LISTED: Final = 5

V = TypeVar("V", bound=Hashable)


@dataclass(frozen=True, slots=True)
class VariantName:
    """A scenario variant: ``variants`` maps step ids to the chosen ones. ``key`` is an address, "" without one."""

    scenario_id: str
    variants: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    tags: tuple[str, ...] = ()
    key: str = ""

    def to_data(self) -> dict[str, Any]:
        return {"scenarioId": self.scenario_id, "variants": dict(self.variants)} | (
            {"key": self.key} if self.key else {}
        )


@dataclass(frozen=True, slots=True)
class SignatureName:
    key: str
    words: str


@dataclass(frozen=True, slots=True)
class Naming(Generic[V]):
    """Names and marks. ``text`` turns texts of differences back into what came from outside, where they are stored."""

    variant: Callable[[V], VariantName]
    signature: Callable[[str], SignatureName]
    is_critical: Callable[[V], bool] = lambda _variant: False
    is_known: Callable[[Row[V]], bool] = lambda _row: False
    text: Callable[[str], str] = lambda text: text

    def scenario_of(self, variant: V) -> str:
        return self.variant(variant).scenario_id


def adjusted_p_values(paired: Iterable[Row[V]]) -> Mapping[V, float]:
    """Return the adjusted p of each row that enters the test, two-sided."""
    rows = list(paired)
    pairs = pairs_of(rows)
    values = adjusted(Counter(map(fisher_exact, pairs)))
    return {row.variant: values[fisher_exact(pair)] for row, pair in zip(rows, pairs, strict=True)}


def row_data(row: Row[V], naming: Naming[V], p_values: Mapping[V, float]) -> dict[str, Any]:
    name, judgement = naming.variant(row.variant), row.judgement
    return {
        **name.to_data(),
        "name": name.name,
        "tags": list(name.tags),
        "class": str(row.change),
        "group": str(row.group),
        "isCritical": naming.is_critical(row.variant),
        "isKnown": naming.is_known(row),
        "isRedefined": row.is_redefined,
        "drop": judgement.drop,
        "fewerDecided": judgement.fewer_decided,
        "adjustedP": p_values.get(row.variant),
        "baseline": _sample_data(row.baseline, judgement.baseline, naming),
        "candidate": _sample_data(row.candidate, judgement.candidate, naming),
    }


def _sample_data(sample: Sample, tally: Tally, naming: Naming[V]) -> dict[str, Any]:
    commonest = sorted(sample.signatures, key=lambda counted: -counted[1])[:FAILURES_LISTED]
    named = [(naming.signature(key), number) for key, number in commonest]
    return {
        "passed": tally.passed,
        "decided": tally.decided,
        "undecided": tally.undecided,
        "rate": tally.rate,
        "words": tally.short_words,
        "statuses": list(sample.statuses[:STATUSES_LISTED]),
        "failures": [{"signature": name.key, "words": name.words, "cases": number} for name, number in named],
    }
