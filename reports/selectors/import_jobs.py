"""Reads of import jobs."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reports.models import ImportJob, Team


@dataclass(frozen=True, slots=True)
class JobRow:
    """An import job; texts in stored form. ``error_paths`` are pairs of JSON path and sentence."""

    pk: int
    state: str
    file_name: str
    byte_size: int
    bytes_read: int
    error_code: str
    error_text: str
    error_paths: list[list[str]]
    run_id: UUID | None
    created_at: datetime
    finished_at: datetime | None


def get_job(*, team: Team, pk: int) -> JobRow | None:
    columns = JobRow.__dataclass_fields__
    row = ImportJob.objects.filter(team=team, pk=pk).values(*columns).first()
    return JobRow(**row) if row else None
