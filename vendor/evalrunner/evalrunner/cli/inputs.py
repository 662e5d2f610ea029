"""Reading what the user names: JSON files, plain or gzipped. Whatever is wrong becomes a sentence."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final, TypeVar

from evalrunner.cli.faults import describe_faults
from evalrunner.errors import EvaluationError, JsonTextError
from evalrunner.jsontext import parse_json

# A gzip file of a few megabytes can unpack to terabytes.
MAX_BYTES: Final = 2 * 1024**3
_CHUNK_BYTES: Final = 1024 * 1024
_GZIP_MAGIC: Final = b"\x1f\x8b"

T = TypeVar("T")


class InputError(Exception):
    """What the user gave cannot be used; the text is one or more sentences for them."""


class UnreadableError(InputError):
    """A file cannot be read at all, so nothing can be said of its content."""


def read_json(path: str) -> object:
    """Read a JSON file, gzipped or not; UnreadableError or InputError names the file and what is wrong with it."""
    content = read_bytes(path)
    try:
        return parse_json(content)
    except JsonTextError as error:
        raise InputError(f"{path}: {error}") from None


def read_bytes(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
            file.seek(0)
            return b"".join(_chunks(path, gzip.open(file) if packed else file))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: damaged gzip data ({error})") from None
    except OSError as error:
        raise UnreadableError(f"{path}: {_reason(error)}") from None
    except ValueError:  # a NUL in the name
        raise UnreadableError(f"{path!r}: no name of a file") from None


def _chunks(path: str, file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    size = 0
    while chunk := file.read(_CHUNK_BYTES):
        size += len(chunk)
        if size > MAX_BYTES:
            raise InputError(f"{path}: larger than {MAX_BYTES:,} bytes when unpacked")
        yield chunk


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def parse_input(path: str, parse: Callable[[object], T], name: str) -> T:
    """Read a file and parse it as what ``name`` says (a suite, a report); InputError lists every fault."""
    value = read_json(path)
    try:
        return parse(value)
    except EvaluationError as error:
        faults = "\n".join(f"  {fault}" for fault in describe_faults(error, value, name))
        raise InputError(f"{path} is not a valid {name}:\n{faults}") from None
