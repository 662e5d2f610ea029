"""Prepared cases on disk between checking a report and storing it, so that no report is held in memory."""

import pickle
import tempfile
from collections.abc import Iterator
from typing import Self

from django.conf import settings

from reports.services.case_rows import PreparedCase

_IN_MEMORY = 4 << 20  # bytes; smaller reports never touch the disk


class CaseSpool:
    """Cases in the order in which they were added; the file has no name and is gone with its process."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, dir=str(settings.FILE_UPLOAD_TEMP_DIR))  # noqa: SIM115
        self.case_count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()

    def add(self, case: PreparedCase) -> None:
        self._file.write(pickle.dumps(case, pickle.HIGHEST_PROTOCOL))
        self.case_count += 1

    def __iter__(self) -> Iterator[PreparedCase]:
        self._file.seek(0)
        for _ in range(self.case_count):
            yield pickle.load(self._file)
