"""The bytes of an upload."""

import gzip
import hashlib
import io

import pytest
import zstandard

from reports.importers.containers import Content
from reports.importers.refusals import ReportRejected

TEXT = b'{"a": 1}' * 1000


def read_all(content: Content) -> bytes:
    return b"".join(iter(lambda: content.read(1000), b""))


@pytest.mark.parametrize(
    "data", [TEXT, gzip.compress(TEXT), zstandard.compress(TEXT), gzip.compress(TEXT[:80]) + gzip.compress(TEXT[80:])]
)
def test_plain_gzip_and_zstd_give_the_same_bytes_count_and_hash(data: bytes) -> None:
    content = Content(io.BytesIO(data))

    assert read_all(content) == TEXT
    assert content.byte_size == len(TEXT)
    assert content.content_hash == hashlib.sha256(TEXT).hexdigest()


def test_a_file_shorter_than_any_mark_is_read() -> None:
    assert read_all(Content(io.BytesIO(b"{"))) == b"{"
    assert read_all(Content(io.BytesIO(b""))) == b""


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_more_bytes_than_the_limit_are_refused_also_from_small_files(pack: object) -> None:
    data = pack(b"a" * 100_000)  # type: ignore[operator]

    with pytest.raises(ReportRejected) as caught:
        read_all(Content(io.BytesIO(data), max_bytes=99_999))

    assert caught.value.code == "content_too_large"


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:40] + b"\x00\x00\x00" + data[43:]])
def test_damaged_gzip_is_refused_in_words(damage: object) -> None:
    with pytest.raises(ReportRejected) as caught:
        read_all(Content(io.BytesIO(damage(gzip.compress(TEXT)))))  # type: ignore[operator]

    assert caught.value.code == "compression_broken"
    assert "damaged or cut off" in caught.value.sentence


def test_damaged_zstd_is_refused_in_words() -> None:
    with pytest.raises(ReportRejected) as caught:
        read_all(Content(io.BytesIO(zstandard.compress(TEXT)[:6] + b"\xff" * 50)))

    assert caught.value.code == "compression_broken"


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "PNG image"),
        (b"%PDF-1.7", "PDF"),
        (b"PK\x03\x04", "a ZIP archive, and no report. Unpack it"),
        (b"\x7fELF", "program"),
    ],
)
def test_other_kinds_of_files_are_named(start: bytes, kind: str) -> None:
    with pytest.raises(ReportRejected) as caught:
        Content(io.BytesIO(start + b"\x00" * 50))

    assert caught.value.code == "not_a_report"
    assert kind in caught.value.sentence


def test_a_broken_connection_is_not_taken_for_a_damaged_file() -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1, /) -> bytes:
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        Content(Broken())
