"""The workspace as far as tools may see it: no path leads out of it, whatever happens to the files meanwhile.

A path is walked name by name from an open descriptor of the root; each folder on the way is opened relative to the one
before and never through a link. Links are read and their targets walked in the same way, so one that stays inside is
followed and one that leads out is an error. Checking a path first and opening it by name afterwards would leave a
moment in which a command that still runs could put a link in its place. The idea is that of ``openat2`` with
``RESOLVE_BENEATH`` (man 2 openat2), which Python does not offer.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from evalrunner.harness.errors import ToolError

MOST_FILE_BYTES: Final = 10 * 1024 * 1024
_MOST_LINKS: Final = 40
_MOST_NAMES: Final = 256
_LONGEST_STEM: Final = 100
# A folder need not be readable to be walked through.
_FOLDER: Final = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
# Opening a pipe that nobody writes to must not wait.
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class MissingError(ToolError):
    """There is no such file, or no such folder on the way to it."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the workspace: a name in an open folder. ``path`` is relative to the root and has no links in it.

    The name is no link when the spot is found; whoever opens it must not follow one either.
    """

    folder: int
    name: str
    path: str

    def open_folder(self) -> int:
        """Open the folder at this place for listing; OSError."""
        return open_inner(self.name, self.folder)

    def read(self, most: int) -> bytes:
        """Read the first bytes of the regular file at this place; OSError, ToolError."""
        return read_regular(self.name, self.folder, most)

    def mode(self) -> int | None:
        """Give the permissions of what is at this place, None for nothing."""
        try:
            return stat.S_IMODE(os.stat(self.name, dir_fd=self.folder, follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return None

    def put(self, data: bytes) -> None:
        """Put a file at this place in one step; whoever reads it sees the old one or the new one whole. OSError."""
        new = f".{self.name[:_LONGEST_STEM]}.{uuid4().hex}.tmp"
        try:
            self._create(new, data)
            os.rename(new, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(new, dir_fd=self.folder)
            raise

    def beside(self, name: str) -> Spot:
        """Give the place of another name in the same folder."""
        return Spot(self.folder, name, f"{self.path.removesuffix(self.name)}{name}")

    def remove(self) -> None:
        os.unlink(self.name, dir_fd=self.folder)

    def _create(self, name: str, data: bytes) -> None:
        mode = self.mode()
        with open(os.open(name, _CREATE, 0o666, dir_fd=self.folder), "wb") as file:  # noqa: PTH123 (a descriptor)
            if mode is not None:
                os.fchmod(file.fileno(), mode & 0o777)
            file.write(data)


def open_inner(name: str, folder: int) -> int:
    """Open a folder in an open folder for listing, through no link; OSError."""
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)


def read_regular(name: str, folder: int, most: int) -> bytes:
    """Read the first bytes of a regular file in an open folder, through no link; OSError, ToolError."""
    with open(os.open(name, _READ, dir_fd=folder), "rb") as file:  # noqa: PTH123 (a descriptor)
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise ToolError("not a regular file")
        return file.read(most)


class Tree:
    """The folder that tools are rooted at."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @contextlib.contextmanager
    def reading(self, path: str) -> Iterator[Spot]:
        """Find a place; links are followed as long as they stay inside. ToolError names the path."""
        with self._naming(path), _Walk(self.root) as walk:
            yield walk.find(self._names(path), make_folders=False)

    @contextlib.contextmanager
    def writing(self, path: str, *, make_folders: bool = False) -> Iterator[Spot]:
        """Find a place to write to, which need not exist; ``..`` is refused wherever it leads. ToolError."""
        with self._naming(path), _Walk(self.root) as walk:
            names = self._names(path)
            if ".." in names:
                raise ToolError("parent traversal is not allowed")
            if not names:
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            yield walk.find(names, make_folders=make_folders)

    def _names(self, path: str) -> list[str]:
        """Give the names of a path from the root on; an absolute one must begin with the root."""
        return _split(self._inside(path) if path.startswith("/") else path)

    def _inside(self, path: str) -> str:
        rest = _below(self.root, path)
        if rest is None:
            raise ToolError("path leads out of the workspace")
        return rest

    @contextlib.contextmanager
    def _naming(self, path: str) -> Iterator[None]:
        """Name the path in whatever goes wrong with it."""
        try:
            yield
        except FileNotFoundError as error:
            raise MissingError(f"{path}: {_describe(error)}") from None
        except OSError as error:
            raise ToolError(f"{path}: {_describe(error)}") from None
        except ValueError:  # a null character, or half a character
            raise ToolError(f"{path!r}: not the name of a file") from None
        except ToolError as error:
            raise ToolError(f"{path}: {error}") from None


class _Walk:
    """One walk from the root; holds the folders on the way open, so that ``..`` leads back where it came from."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: list[int] = []
        self._path: list[str] = []

    def __enter__(self) -> _Walk:
        # The root itself is the operator's choice and may be a link.
        self._folders.append(os.open(self._root, _FOLDER & ~os.O_NOFOLLOW))
        return self

    def __exit__(self, *error: object) -> None:
        self._back_to_root()
        os.close(self._folders.pop())

    def find(self, names: list[str], *, make_folders: bool) -> Spot:
        todo, links = names[::-1], 0
        while todo:
            name = todo.pop()
            if name == "..":
                self._up()
            elif (target := self._link(name)) is not None:
                links += 1
                todo += self._target(target)[::-1]
            elif todo:
                self._down(name, make_folders)
            else:
                return Spot(self._folders[-1], name, "/".join((*self._path, name)))
            if links > _MOST_LINKS or len(todo) > _MOST_NAMES or len(self._path) > _MOST_NAMES:
                raise ToolError("too many links or folders")
        return Spot(self._folders[-1], ".", "/".join(self._path) or ".")

    def _link(self, name: str) -> str | None:
        """Give where a link leads; None for what is no link, or not there."""
        try:
            return os.readlink(name, dir_fd=self._folders[-1])
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            raise

    def _target(self, target: str) -> list[str]:
        if not target.startswith("/"):
            return _split(target)
        rest = _below(self._root, target)
        if rest is None:
            raise ToolError("symbolic link leads out of the workspace")
        self._back_to_root()
        return _split(rest)

    def _up(self) -> None:
        if not self._path:
            raise ToolError("path leads out of the workspace")
        os.close(self._folders.pop())
        self._path.pop()

    def _down(self, name: str, make_folders: bool) -> None:
        if make_folders:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=self._folders[-1])
        self._folders.append(os.open(name, _FOLDER, dir_fd=self._folders[-1]))
        self._path.append(name)

    def _back_to_root(self) -> None:
        while self._path:
            self._up()


def _below(root: Path, path: str) -> str | None:
    """Give the rest of an absolute path that begins with the root, however the root is written; else None."""
    for start in (str(root), os.path.realpath(root)):
        if path == start or path.startswith(start.rstrip("/") + "/"):
            return path[len(start) :]
    return None


def _split(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _describe(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "a symbolic link has taken its place"
    return os.strerror(error.errno) if error.errno is not None else str(error)
