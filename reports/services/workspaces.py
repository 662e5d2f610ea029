"""The folder of one harness run: its workspace, its home, its temporary files. It is gone when the run has ended."""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from reports.models import Run


@dataclass(frozen=True)
class RunFolder:
    """``workspace`` is where scenarios act; ``home`` and ``temporary`` are those of child processes."""

    workspace: Path
    home: Path
    temporary: Path


@contextmanager
def run_folder(run_pk: uuid.UUID, template: Path | None) -> Iterator[RunFolder]:
    """Make the folder of a run, its workspace a copy of ``template`` or empty, and remove it at the end."""
    root = _all_folders() / str(run_pk)
    remove_folder(root)
    folder = RunFolder(root / "workspace", root / "home", root / "tmp")
    try:
        for path in (folder.home, folder.temporary):
            path.mkdir(parents=True, mode=0o700)
        if template is None:
            folder.workspace.mkdir()
        else:
            shutil.copytree(template, folder.workspace, symlinks=True, ignore=_unfit(template.resolve()))
        yield folder
    finally:
        remove_folder(root)


def remove_abandoned_folders() -> None:
    """Remove what runs left behind whose worker was killed."""
    if not _all_folders().is_dir():
        return
    found = {path.name: path for path in _all_folders().iterdir()}
    keys = [uuid.UUID(name) for name in found if _is_uuid(name)]
    going = {
        str(pk) for pk in Run.objects.filter(pk__in=keys, status__in=("queued", "running")).values_list("pk", flat=True)
    }
    for name, path in found.items():
        if name not in going:
            remove_folder(path)


def remove_folder(path: Path) -> None:
    """Remove a folder and all in it, also folders that were made unreadable; links are never followed."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    elif path.is_dir():
        _open_up(path)
        shutil.rmtree(path, ignore_errors=True)  # what still fails is tried again after the next run


def _open_up(root: Path) -> None:
    """Give back the rights that somebody may have taken from folders; each before it is looked into."""
    with suppress(OSError):
        root.chmod(stat.S_IRWXU)
    for folder, names, _ in os.walk(root):
        for path in (Path(folder, name) for name in names):
            with suppress(OSError):
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)


def _all_folders() -> Path:
    return Path(settings.DATA_DIR) / "workspaces"


def _is_uuid(name: str) -> bool:
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False


def _unfit(root: Path) -> Callable[[str, Sequence[str]], set[str]]:
    """Make the filter of a copy: links that lead out of the folder, pipes, sockets and devices are left out."""

    def unfit(folder: str, names: Sequence[str]) -> set[str]:
        return {name for name in names if not _is_fit(Path(folder, name), root)}

    return unfit


def _is_fit(path: Path, root: Path) -> bool:
    mode = path.lstat().st_mode
    return _is_inside(path, root) if stat.S_ISLNK(mode) else stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _is_inside(link: Path, root: Path) -> bool:
    if os.path.isabs(os.readlink(link)):  # noqa: PTH115, PTH117  (it would lead back into the template)
        return False
    return link.resolve().is_relative_to(root)
