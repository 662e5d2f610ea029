"""A target that does nothing, for 200 ms."""

import asyncio
from typing import Any

from evalrunner.targets import RunnableTarget

LATENCY_S = 0.2


class WaitingAdapter:
    id, version = "bench.waiting", "1"

    async def open(self, context: Any) -> "WaitingAdapter":
        return self

    async def send(self, input: Any, context: Any) -> dict[str, Any]:
        await asyncio.sleep(LATENCY_S)
        return {"observation": {"response": {"status": "completed"}}}


waiting = RunnableTarget(id="bench.waiting", make_adapter=lambda fingerprint: WaitingAdapter())
