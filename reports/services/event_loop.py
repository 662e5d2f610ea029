"""An event loop for foreign code: it comes to its end also when that code does not.

``asyncio.run`` waits without limit for tasks that ignore their cancellation and for threads that never return. A worker
that did would be lost for every later run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

PATIENCE_S = 5.0


def run_to_end(work: Coroutine[Any, Any, None], *, patience_s: float = PATIENCE_S) -> None:
    """Run a coroutine in a loop of its own; what it leaves behind gets ``patience_s`` seconds and is then dropped."""
    loop = asyncio.new_event_loop()
    threads = ThreadPoolExecutor(thread_name_prefix="target")
    loop.set_default_executor(threads)
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(work)
    finally:
        loop.run_until_complete(_end_tasks(patience_s))
        threads.shutdown(wait=False, cancel_futures=True)
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()


async def _end_tasks(patience_s: float) -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=patience_s)
