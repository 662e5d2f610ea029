"""Split runs in tests: their shards, and workers that execute them in this process."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from reports.models import Run, Shard
from reports.services.executing import execute_run
from reports.services.executing_shards import execute_shard
from reports.services.leases import claim_shard
from reports.services.shards import expire_shards


def shards_of(run: Run) -> list[int]:
    return list(Shard.objects.filter(execution=run.pk).order_by("number").values_list("pk", flat=True))


def begun(run: Run) -> list[int]:
    """Let a worker begin a run; returns its shards."""
    execute_run(run_pk=run.pk)
    return shards_of(run)


def worked_off(run: Run) -> Run:
    """Let workers execute a run to its end, one shard after the other."""
    for shard in begun(run):
        execute_shard(shard_pk=shard)
    return Run.objects.select_related("execution").get(pk=run.pk)


def states_of(run: Run) -> list[str]:
    return list(Shard.objects.filter(execution=run.pk).order_by("number").values_list("state", flat=True))


def at_once(*work: Callable[[], Any]) -> list[Any]:
    """Do work in threads, each with a connection of its own; return what it gave, or raise what it raised."""

    def apart(each: Callable[[], Any]) -> Any:
        try:
            return each()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(work)) as threads:
        return [done.result() for done in [threads.submit(apart, each) for each in work]]


def lose(run: Run, shard: int) -> None:
    """Let a worker claim a shard and vanish."""
    assert claim_shard(shard_pk=shard) is not None
    Shard.objects.filter(pk=shard).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert expire_shards() == 1
