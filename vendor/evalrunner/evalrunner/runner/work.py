"""Working on cases: which one begins next, and what their conversations ask of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Final

from evalrunner.assertions import Evaluators
from evalrunner.models import CaseStatus, EvaluationCase, ExpandedCase
from evalrunner.runner.conversation import Conversation, close_late
from evalrunner.runner.lane_group import LaneGroup
from evalrunner.runner.lanes import Life
from evalrunner.runner.options import Limits
from evalrunner.runner.publisher import Publisher

_COUNTED: Final = frozenset({CaseStatus.FAILED, CaseStatus.ERROR})


class CaseWork:
    """The cases that one process works on; each conversation's host.

    ``cases`` and ``state_of`` give a case and its present state by its place in the report, ``todo`` the places to work
    on, in order. ``failures``, where the run is split, tells how many cases have failed in all of its parts.
    """

    def __init__(
        self,
        lanes: LaneGroup,
        publisher: Publisher,
        *,
        run_id: str,
        adapter: Any,
        evaluators: Evaluators,
        limits: Limits,
        cases: Mapping[int, ExpandedCase] | Sequence[ExpandedCase],
        state_of: Callable[[int], EvaluationCase],
        todo: Iterable[int],
        failures: Callable[[], int] | None = None,
    ) -> None:
        self.run_id, self.adapter, self.evaluators, self.limits = run_id, adapter, evaluators, limits
        self.publisher, self.signal = publisher, lanes.signal
        self.clock_s: Callable[[], float] = asyncio.get_running_loop().time
        self._lanes, self._cases, self._state_of, self._todo = lanes, cases, state_of, iter(todo)
        self._count_failures = failures
        self._own_failures = 0

    async def work(self) -> None:
        """Keep ``concurrency`` lanes busy until no case may be begun any more."""
        first = (self._next_case() for _ in range(self.limits.concurrency))
        await self._lanes.live((life for life in first if life is not None), self._next_case)

    def count_outcome(self, status: CaseStatus) -> None:
        """Note how a case ended; failures and errors count towards the limit."""
        self._own_failures += status in _COUNTED

    def close_late(self, session: Any) -> Coroutine[Any, Any, None]:
        return close_late(session, self.limits.timeout_ms / 1000)

    def _next_case(self) -> Life | None:
        if self.signal.is_set() or self._failures >= self.limits.max_failures:
            return None
        place = next(self._todo, None)
        if place is None:
            return None
        return Conversation(self, place, self._cases[place], self._state_of(place)).live()

    @property
    def _failures(self) -> int:
        return self._own_failures if self._count_failures is None else self._count_failures()
