"""What judging a comparison finds, kept beside it: everything but the comparison itself."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from evalrunner.compare.repetitions import Plan
from evalrunner.compare.verdict import Assessment

MOST_KEPT = 2  # of one comparison: policies and notes change seldom


@dataclass(frozen=True, slots=True)
class RowTest:
    """Fisher's exact p of one row (two-sided), and the same adjusted over all rows that enter the test."""

    p_value: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class Findings:
    """The verdict, what would decide an open one, and the tests of the rows that enter the verdict's."""

    assessment: Assessment
    plan: Plan[int]
    tests: Mapping[int, RowTest]


class FindingsMemo:
    """The last findings of one comparison, by the policy and the notes that they stand on."""

    def __init__(self) -> None:
        self._found: dict[Hashable, Findings] = {}

    def get(self, key: Hashable) -> Findings | None:
        return self._found.get(key)

    def put(self, key: Hashable, findings: Findings) -> None:
        self._found = dict([*self._found.items(), (key, findings)][-MOST_KEPT:])
