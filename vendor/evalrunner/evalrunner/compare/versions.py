"""The runs of one side from files, pooled by the rule of versions: one target, one version, one suite revision.

A lineage (a run with what resumed or retried it) gives one attempt per case; ``samples_of`` sees to that. Where a side
pools several lineages, those that never came to an end are left out and named: stopping a run after looking at it must
not choose what counts. A single lineage counts as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from evalrunner.compare.files import ReportFile, ReportFileError, ScenarioText, read_report_file
from evalrunner.compare.outcomes import RunFacts, RunOutcomes, lineages_of, run_order

ENDED: Final = frozenset({"completed", "limited"})
_SHARED: Final[Sequence[tuple[str, Callable[[RunFacts], str]]]] = (
    ("target", lambda facts: facts.target_id),
    ("fingerprint", lambda facts: facts.fingerprint),
    ("suite", lambda facts: facts.suite_id),
    ("suite revision", lambda facts: facts.suite_revision),
)


@dataclass(frozen=True, slots=True)
class Version:
    """One side, its runs in order of their start. ``left_out`` are runs of lineages that never ended, beside others."""

    files: tuple[ReportFile, ...]
    left_out: tuple[RunFacts, ...] = ()

    @property
    def facts(self) -> RunFacts:
        """Return the facts that all runs share, those of the last run."""
        return self.files[-1].facts

    @property
    def runs(self) -> list[RunOutcomes]:
        return [file.outcomes for file in self.files]

    @property
    def run_ids(self) -> frozenset[str]:
        return frozenset(file.facts.run_id for file in self.files)

    @property
    def without_predecessor(self) -> tuple[ReportFile, ...]:
        """Return the reports that resumed or retried a run which is not among the files."""
        given = self.run_ids | {facts.run_id for facts in self.left_out}
        return tuple(file for file in self.files if file.facts.resumed_from not in ("", *given))

    def scenarios(self) -> dict[str, ScenarioText]:
        return {name: text for file in self.files for name, text in file.scenarios.items()}

    def failures(self) -> dict[str, str]:
        return {key: words for file in self.files for key, words in file.failures.items()}


def read_version(paths: Sequence[str]) -> Version:
    """Read one side from its files; ReportFileError where one is no report or they are not runs of one version."""
    files = [read_report_file(path) for path in paths]
    _refuse_repeated(files)
    for name, shared in _SHARED:
        _refuse_different(files, name, shared)
    return _ended(sorted(files, key=lambda file: run_order(file.facts.started_at, file.facts.run_id)))


def _refuse_repeated(files: Sequence[ReportFile]) -> None:
    seen: dict[str, str] = {}
    for file in files:
        run_id = file.facts.run_id
        if run_id in seen:
            raise ReportFileError(f"{file.path}: run {run_id!r} is given twice on this side, first in {seen[run_id]}")
        seen[run_id] = file.path


def _refuse_different(files: Sequence[ReportFile], name: str, shared: Callable[[RunFacts], str]) -> None:
    first = files[0]
    for file in files[1:]:
        if shared(file.facts) != shared(first.facts):
            raise ReportFileError(
                f"{file.path}: its {name} is {shared(file.facts)!r}, but that of {first.path} is "
                f"{shared(first.facts)!r}; the files of one side are runs of one version with one suite revision"
            )


def _ended(files: Sequence[ReportFile]) -> Version:
    origins = lineages_of({file.facts.run_id: file.facts.resumed_from for file in files})
    ended = {origins[file.facts.run_id] for file in files if file.facts.status in ENDED}
    if len(set(origins.values())) == 1:
        return Version(tuple(files))
    kept = tuple(file for file in files if origins[file.facts.run_id] in ended)
    if not kept:
        raise ReportFileError(f"{files[0].path}: none of the runs of this side is completed or limited")
    return Version(kept, tuple(file.facts for file in files if origins[file.facts.run_id] not in ended))
