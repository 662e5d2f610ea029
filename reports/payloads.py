"""Heavy columns: JSON bytes behind a one-byte codec tag.

Tag 0: the JSON as it is. Tag 1: zstd, level 3. What compresses badly stays plain.
"""

import json
import threading
from typing import Any

import zstandard

PLAIN, ZSTD = b"\x00", b"\x01"
_SMALLEST_COMPRESSED = 200  # bytes; below this a zstd frame saves nothing worth its time
_local = threading.local()


def _compressor() -> zstandard.ZstdCompressor:
    if not hasattr(_local, "compressor"):
        _local.compressor = zstandard.ZstdCompressor(level=3, write_checksum=False)
    compressor: zstandard.ZstdCompressor = _local.compressor
    return compressor


def pack_bytes(text: bytes) -> bytes:
    """Return the column value of JSON bytes."""
    if len(text) < _SMALLEST_COMPRESSED:
        return PLAIN + text
    return ZSTD + _compressor().compress(text)


def unpack_bytes(column: bytes | memoryview) -> bytes:
    """Return the JSON bytes of a column value; ValueError on an unknown tag."""
    data = bytes(column)
    if data[:1] == PLAIN:
        return data[1:]
    if data[:1] == ZSTD:
        return zstandard.ZstdDecompressor().decompress(data[1:])
    raise ValueError(f"unknown payload codec {data[:1]!r}")


def pack(value: object) -> bytes:
    """Return the column value of a JSON value; unpaired surrogates stay escaped."""
    return pack_bytes(json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii"))


def unpack(column: bytes | memoryview) -> Any:
    """Return the JSON value of a column value."""
    return json.loads(unpack_bytes(column))
