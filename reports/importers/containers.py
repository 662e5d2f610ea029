"""The bytes of an upload: gzip and zstd recognised by content, with a hard limit on what comes out of them."""

import gzip
import hashlib
import io
import zlib
from typing import BinaryIO, Protocol, cast

import zstandard

from reports.importers.refusals import ReportRejected

MAX_CONTENT_BYTES = 4 << 30
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_LARGEST_WINDOW = 1 << 27  # bytes of memory that a zstd frame may ask for; level 19 needs 8 MiB, --long 128 MiB
_OTHER_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image", ""),
    (b"\xff\xd8\xff", "a JPEG image", ""),
    (b"GIF8", "a GIF image", ""),
    (b"%PDF-", "a PDF document", ""),
    (b"PK\x03\x04", "a ZIP archive", " Unpack it and send the report inside."),
    (b"BZh", "bzip2 data", " Only gzip and zstd are read."),
    (b"\xfd7zXZ\x00", "xz data", " Only gzip and zstd are read."),
    (b"SQLite format 3\x00", "an SQLite database", ""),
    (b"\x7fELF", "a program", ""),
)


class Readable(Protocol):
    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes; none at the end."""


class Content(io.RawIOBase):
    """The uncompressed bytes of an upload; counts and hashes what is read.

    Raises ReportRejected for broken compression, for more than ``max_bytes`` bytes and for kinds of files that are
    known to be no report.
    """

    def __init__(self, source: Readable, *, max_bytes: int = MAX_CONTENT_BYTES) -> None:
        self.byte_size = 0
        self._hash = hashlib.sha256()
        self._max_bytes = max_bytes
        start = _read_fully(source, 16)
        self._bytes = _uncompressed(start, source)
        self._is_packed = is_packed(start)
        self._ahead = b""
        _refuse_other_kinds(start)

    @property
    def content_hash(self) -> str:
        return self._hash.hexdigest()

    def peek(self, size: int) -> bytes:
        """Return the first ``size`` bytes, fewer at the end; they are read again afterwards."""
        while len(self._ahead) < size and (more := self._take(size - len(self._ahead))):
            self._ahead += more
        return self._ahead[:size]

    def read(self, size: int = -1, /) -> bytes:
        wanted = 1 << 16 if size < 0 else size
        if self._ahead:
            data, self._ahead = self._ahead[:wanted], self._ahead[wanted:]
            return data
        return self._take(wanted)

    def _take(self, wanted: int) -> bytes:
        try:
            data = self._bytes.read(wanted)
        except (gzip.BadGzipFile, EOFError, zlib.error, zstandard.ZstdError) as error:
            raise ReportRejected(
                "compression_broken", f"The compressed file is damaged or cut off: {_reason(error)}."
            ) from None
        if not data and not self.byte_size and self._is_packed:
            raise ReportRejected("compression_broken", "The compressed file is cut off before its first byte.")
        self.byte_size += len(data)
        if self.byte_size > self._max_bytes:
            raise ReportRejected(
                "content_too_large", f"The file holds more than {self._max_bytes:,} bytes when it is unpacked."
            )
        self._hash.update(data)
        return data


def is_packed(start: bytes) -> bool:
    """Tell from its first four bytes whether a file is compressed."""
    return start.startswith((_GZIP, _ZSTD))


class _Rejoined(io.RawIOBase):
    """What was read ahead, then the rest of its source."""

    def __init__(self, start: bytes, source: Readable) -> None:
        self._start, self._source = start, source

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        if not self._start:
            return self._source.read(size)
        data, self._start = self._start[:size], self._start[size:]
        return data


def _uncompressed(start: bytes, source: Readable) -> Readable:
    whole = cast(BinaryIO, _Rejoined(start, source))
    if start.startswith(_GZIP):
        return gzip.GzipFile(fileobj=whole, mode="rb")
    if start.startswith(_ZSTD):
        unpacker = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
        return unpacker.stream_reader(whole, read_across_frames=True)
    return whole


def _refuse_other_kinds(start: bytes) -> None:
    for magic, kind, advice in _OTHER_KINDS:
        if start.startswith(magic):
            raise ReportRejected("not_a_report", f"This is {kind}, and no report.{advice}")


def _read_fully(source: Readable, size: int) -> bytes:
    start = b""
    while len(start) < size and (more := source.read(size - len(start))):
        start += more
    return start


def _reason(error: Exception) -> str:
    text = str(error).strip().rstrip(".") or type(error).__name__
    return text[0].lower() + text[1:]
