import asyncio
import time

import pytest

from tests.runner.virtual_time import Deadlock, run_virtually


def test_an_hour_passes_at_once_and_timers_ring_in_order() -> None:
    rung = []

    async def ring(after_s: float) -> None:
        await asyncio.sleep(after_s)
        rung.append(after_s)

    async def wait() -> float:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await asyncio.gather(ring(3600), ring(1), ring(60))
        return loop.time() - begun

    begun = time.monotonic()

    assert run_virtually(wait()) == pytest.approx(3600)
    assert rung == [1, 60, 3600]
    assert time.monotonic() - begun < 60


def test_waiting_for_what_never_happens_is_reported() -> None:
    async def wait() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Deadlock):
        run_virtually(wait())
