"""Background jobs: each takes the key of a row and calls one service. Delivered twice, a message does its work once."""

import uuid

from celery import shared_task

from reports import dispatcher
from reports.services import executing, executing_shards, import_jobs, run_changes
from reports.services.messages import COUNT_CHANGES, EXECUTE_RUN, EXECUTE_SHARD, IMPORT_UPLOAD

dispatcher.connect()


@shared_task(name=EXECUTE_RUN)
def execute_run(run_pk: str) -> None:
    executing.execute_run(run_pk=uuid.UUID(run_pk))


@shared_task(name=EXECUTE_SHARD)
def execute_shard(shard_pk: str) -> None:
    executing_shards.execute_shard(shard_pk=int(shard_pk))


@shared_task(name=IMPORT_UPLOAD)
def import_upload(job_pk: str) -> None:
    import_jobs.run_job(job_pk=int(job_pk))


@shared_task(name=COUNT_CHANGES)
def count_changes(run_pk: str) -> None:
    """Count a batch of changes that wait; the run of the message was the first of them."""
    run_changes.count_batch()
