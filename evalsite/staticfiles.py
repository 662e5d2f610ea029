"""Static files that are served out of installed Python packages, under fixed names, without a copy in this project."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files import File
from django.core.files.storage import Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Served name -> (package, path inside it).
PACKAGE_FILES = {"vendor/plotly/plotly.min.js": ("plotly", "package_data/plotly.min.js")}


def _located(name: str) -> Path | None:
    if name not in PACKAGE_FILES:
        return None
    package, inside = PACKAGE_FILES[name]
    return Path(str(resources.files(package).joinpath(inside)))


class PackageStorage(Storage):
    """A read-only storage of ``PACKAGE_FILES``; unknown names do not exist."""

    prefix = None

    def path(self, name: str) -> str:
        return str(_located(name) or "")

    def exists(self, name: str) -> bool:
        return _located(name) is not None

    def _open(self, name: str, mode: str = "rb") -> "File[Any]":
        return File(open(self.path(name), mode))  # noqa: PTH123 - the caller closes what it opened

    def get_modified_time(self, name: str) -> datetime:
        return datetime.fromtimestamp(Path(self.path(name)).stat().st_mtime, tz=UTC)


class PackageFinder(BaseFinder):
    """Find the files of ``PACKAGE_FILES``."""

    storage = PackageStorage()

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        found = _located(path)
        if find_all:
            return [str(found)] if found else []
        return str(found) if found else None

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        for name in PACKAGE_FILES:
            yield name, self.storage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # it has no types
    """Files under names that hold their content's hash, once they were collected; before that under their own names."""

    def stored_name(self, name: str) -> str:
        try:
            return str(super().stored_name(name))
        except ValueError:  # not collected: a missing file must not take the whole page with it
            return name
