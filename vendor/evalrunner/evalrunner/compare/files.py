"""One side of a comparison read from report files, case by case, in memory that does not grow with their evidence.

A file is checked by the rules of ``parse_evaluation_report`` while it is read; of each case only its outcome is kept.
Files are plain JSON, gzip or zstd (with the package ``zstandard``), told apart by their content.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, cast

from evalrunner.compare.outcomes import CaseOutcome, RunFacts, RunOutcomes, VariantId, case_outcome, run_facts
from evalrunner.compare.signatures import failure_signature
from evalrunner.errors import RESUME_INVALID, SUITE_INVALID, EvaluationError
from evalrunner.report_checks import ReportCheck
from evalrunner.stream import CASES, ReportTextError, read_members

MOST_BYTES: Final = 1 << 36  # when unpacked; a packed file of megabytes can hold terabytes
FAULTS_NAMED: Final = 20
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_LARGEST_WINDOW: Final = 1 << 27  # bytes of memory that a zstd frame may ask for


class ReportFileError(ValueError):
    """A file that holds no report that can be compared; its text is for the user and names the file."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class ScenarioText:
    name: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report of which only the outcomes are kept.

    ``scenarios`` describes them by id; ``failures`` tells for each failure signature what failed, in words.
    """

    path: str
    outcomes: RunOutcomes
    scenarios: Mapping[str, ScenarioText]
    failures: Mapping[str, str]

    @property
    def facts(self) -> RunFacts:
        return self.outcomes.facts


def read_report_file(path: str, *, most_bytes: int = MOST_BYTES) -> ReportFile:
    """Read the report in a file; ReportFileError names the file and every place at fault (the first 20)."""
    with _opened(path) as source:
        limited = cast(BinaryIO, _Limited(path, source, most_bytes))
        reading = _Reading(path)
        try:
            for member in read_members(limited):
                if member.position is None:
                    reading.members[member.name] = member.value
                else:
                    reading.take(member.value, member.position)
        except ReportTextError as error:
            place = f"{error.path}: " if error.path else ""
            raise ReportFileError(f"{path}: {place}{error.reason}") from None
        return reading.finish()


# ------------------------------------------------------------------------------------------------------ a file's bytes


@contextmanager
def _opened(path: str) -> Iterator[_Readable]:
    """Open a file, unpacking what is packed; whatever fails while it is open becomes a sentence."""
    try:
        with Path(path).open("rb") as file:
            yield _unpacked(path, file, file.peek(4)[:4])
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ReportFileError(f"{path}: damaged gzip data ({error})") from None
    except OSError as error:
        raise ReportFileError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ReportFileError:
        raise
    except ValueError as error:
        if "null" not in str(error):
            raise
        raise ReportFileError(f"{path!r}: no name of a file") from None


def _unpacked(path: str, file: BinaryIO, start: bytes) -> _Readable:
    if start.startswith(_GZIP):
        return gzip.GzipFile(fileobj=file, mode="rb")
    if start.startswith(_ZSTD):
        return _Zstd(path, file)
    return file


class _Zstd:
    """The unpacked bytes of a zstd file; needs the package ``zstandard``."""

    def __init__(self, path: str, file: BinaryIO) -> None:
        try:
            import zstandard
        except ImportError:
            sentence = "zstd data; install evalrunner[zstd] to read it, or unpack it first"
            raise ReportFileError(f"{path}: {sentence}") from None
        self._path, self._damage = path, zstandard.ZstdError
        unpacker = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
        self._bytes = unpacker.stream_reader(file, read_across_frames=True)
        self._is_empty = True

    def read(self, size: int, /) -> bytes:
        try:
            chunk = self._bytes.read(size)
        except self._damage as error:
            raise ReportFileError(f"{self._path}: damaged zstd data ({error})") from None
        if self._is_empty and not chunk:
            raise ReportFileError(f"{self._path}: damaged zstd data (cut off before its first byte)")
        self._is_empty = False
        return chunk


class _Limited:
    def __init__(self, path: str, source: _Readable, most_bytes: int) -> None:
        self._path, self._source, self._most, self._read = path, source, most_bytes, 0

    def read(self, size: int, /) -> bytes:
        chunk = self._source.read(size)
        self._read += len(chunk)
        if self._read > self._most:
            raise ReportFileError(f"{self._path}: larger than {self._most:,} bytes when unpacked")
        return chunk


# ------------------------------------------------------------------------------------------------------------ a report


@dataclass(slots=True)
class _Reading:
    """What is known of a report while it is read. Its members may come in any order."""

    path: str
    members: dict[str, Any] = field(default_factory=dict)
    check: ReportCheck = field(default_factory=ReportCheck)
    cases: list[CaseOutcome] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    _variants: dict[VariantId, VariantId] = field(default_factory=dict)
    _signatures: dict[str, str] = field(default_factory=dict)
    _count: int = 0

    def take(self, case: Any, index: int) -> None:
        """Check a case and keep its outcome; equal texts are kept once."""
        self._count = index + 1
        try:
            self.check.case(case, index)
        except EvaluationError as error:
            raise self._refusal([f"{CASES}.{index}" + _inside(error)], error.code) from None
        if self.check.case_findings:
            if len(self.check.case_findings) >= FAULTS_NAMED:
                raise self._refusal(self.check.case_findings)
            return
        outcome = case_outcome(case, index)
        signature = self._signatures.setdefault(outcome.signature, outcome.signature)
        if signature and signature not in self.failures:
            found = failure_signature(case)
            self.failures[signature] = found.words if found is not None else ""
        self.cases.append(
            CaseOutcome(
                variant=self._variants.setdefault(outcome.variant, outcome.variant),
                repetition=int(outcome.repetition),
                place=index,
                status=sys.intern(str(outcome.status)),
                signature=signature,
            )
        )

    def finish(self) -> ReportFile:
        members, check = self.members, self.check
        self._check_whole()
        facts = run_facts(members)
        scenarios = {
            scenario["id"]: ScenarioText(scenario["name"], tuple(scenario.get("tags", ())))
            for scenario in members["suite"]["scenarios"]
        }
        check.suite = None
        return ReportFile(self.path, RunOutcomes(facts, self.cases), scenarios, self.failures)

    def _check_whole(self) -> None:
        try:
            self.check.head(self.members)
        except EvaluationError as error:
            prefix = "suite" if error.code == SUITE_INVALID else ""
            paths = [".".join(part for part in (prefix, path) if part) for path in error.paths] or ["suite"]
            raise self._refusal(paths, error.code) from None
        try:
            self.check.tail(self.members)
        except EvaluationError as error:
            raise self._refusal(["assertions" + _inside(error)], error.code) from None
        if CASES in self.members or not self._count:
            self._check_list()
        self.check.case_count(self._count)
        try:
            self.check.finish()
        except EvaluationError as error:
            raise self._refusal(error.paths or ["summary, which does not agree with the cases"], error.code) from None

    def _check_list(self) -> None:
        """A list that is empty comes as a member of its own, as does anything that is no list."""
        if self.members.get(CASES) != []:
            self.check.case_findings.append(CASES)

    def _refusal(self, places: Sequence[str], code: str = RESUME_INVALID) -> ReportFileError:
        distinct = list(dict.fromkeys(place or "the report itself, which has an unknown member" for place in places))
        lines = [f"  {place}" for place in distinct[:FAULTS_NAMED]]
        if len(distinct) > FAULTS_NAMED:
            lines.append(f"  and {len(distinct) - FAULTS_NAMED:,} more")
        head = f"{self.path} is not a valid report ({code}); missing or not allowed:"
        return ReportFileError("\n".join([head, *lines]))


def _inside(error: EvaluationError) -> str:
    return f".{error.paths[0]}" if error.paths and error.paths[0] else ""
