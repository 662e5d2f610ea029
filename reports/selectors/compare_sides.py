"""What stands on a side of a comparison: a run, or a version that pools its runs of one suite revision.

In addresses a run is ``run:<uuid>`` (or the bare uuid), a version ``version:<pk>`` with the newest revision it ran, or
``version:<pk>:<revision pk>``. Both sides are read by one query; a version's runs are grouped here.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.db.models import Q
from evalrunner.compare import lineages_of
from evalrunner.compare.outcomes import run_order

from reports.models import Run, Team
from reports.selectors.attempts import ancestors_of
from reports.text import restored

POOLED = ("completed", "limited")
Rows = Sequence[Mapping[str, Any]]
_LARGEST_PK = 2**63 - 1


class SideProblem(Exception):
    """A side that cannot be compared; ``sentence`` says why and ``is_unknown`` that the team has no such thing."""

    def __init__(self, name: str, sentence: str, *, is_unknown: bool) -> None:
        self.name, self.sentence, self.is_unknown = name, sentence, is_unknown
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class Token:
    """A side as an address names it."""

    kind: Literal["run", "version"]
    run: uuid.UUID | None = None
    version: int = 0
    revision: int = 0

    def __str__(self) -> str:
        if self.kind == "run":
            return f"run:{self.run}"
        return f"version:{self.version}:{self.revision}" if self.revision else f"version:{self.version}"


@dataclass(frozen=True, slots=True)
class SideRun:
    """One run of a side. Texts are in stored form; ``options`` are those of an execution of this site.

    ``started`` is the start as the report tells it. ``follow_up`` says by what outcome the run was chosen, "" where it
    was not.
    """

    pk: uuid.UUID
    run_id: str
    resumed_from: str
    status: str
    started: str
    ordered_at: datetime
    generation: int | None
    version: int
    revision: int
    options: Mapping[str, Any]
    follow_up: str = ""
    format: str = "report"


@dataclass(frozen=True, slots=True)
class Revision:
    """A suite revision that a version ran, newest first among its like."""

    pk: int
    digest: str
    suite: int
    suite_id: str
    newest_at: datetime


@dataclass(frozen=True, slots=True)
class Side:
    """A side with its runs in order of their start. Texts are in stored form.

    ``lineages`` gives each run, in the same order, the number of its lineage. ``revisions`` are all that a version
    could be compared in; ``revision`` is the one that is. ``left_out`` are runs of a version in that revision that do
    not count, because their lineage never came to an end.
    """

    token: Token
    target: int
    target_id: str
    version: int
    fingerprint: str
    label: str
    suite: int
    suite_id: str
    suite_name: str
    revision: Revision
    revisions: tuple[Revision, ...]
    runs: tuple[SideRun, ...]
    lineages: tuple[int, ...]
    left_out: tuple[SideRun, ...] = ()

    @property
    def newest(self) -> SideRun:
        """The run that the address of a run names, whatever it continues; a version's newest."""
        return next((run for run in self.runs if run.pk == self.token.run), self.runs[-1])

    @property
    def generations(self) -> tuple[int, ...]:
        return tuple(run.generation for run in self.runs if run.generation is not None)

    @property
    def is_follow_up(self) -> bool:
        """Tell whether scenarios were chosen by their outcome, so that the rates say nothing about the version."""
        return any(run.follow_up for run in self.runs)

    @property
    def has_lineages(self) -> bool:
        """Tell whether some run continues another, so that attempts must be chosen."""
        return len(set(self.lineages)) < len(self.lineages)


def parse_token(text: str) -> Token | None:
    """Read a side from an address; None when it is written like none."""
    kind, _, rest = text.partition(":")
    if kind == "version":
        numbers = [_pk(part) for part in rest.split(":")]
        if None in numbers or not 1 <= len(numbers) <= 2:
            return None
        return Token("version", version=numbers[0] or 0, revision=(numbers[1] or 0) if len(numbers) == 2 else 0)
    try:
        return Token("run", run=uuid.UUID(rest if kind == "run" else text))
    except ValueError:
        return None


def _pk(text: str) -> int | None:
    fits = text.isascii() and text.isdigit() and len(text) < 20
    return int(text) if fits and 0 < int(text) <= _LARGEST_PK else None


def resolve_sides(*, team: Team, baseline: str, candidate: str, suite: int = 0) -> tuple[Side, Side]:
    """Find both sides, restricted to a suite where one is given; SideProblem where one cannot be compared."""
    tokens = {name: _token(name, text) for name, text in (("baseline", baseline), ("candidate", candidate))}
    rows = _rows(team, tokens.values())
    suites = {suite} if suite else _suites_of_runs(rows, tokens.values())
    chains = _chains(team, rows, tokens.values())
    left, right = (_side(name, token, rows, suites, chains) for name, token in tokens.items())
    return left, right


def _chains(team: Team, rows: Rows, tokens: Iterable[Token]) -> dict[uuid.UUID | None, Rows]:
    """Return what each named run resumed or retried, oldest first: rates count the first decided attempt.

    Where both sides are runs of one lineage, the attempts themselves are compared.
    """
    links = {row["id"]: row for row in rows}
    chains = {
        token.run: ancestors_of(team_pk=team.pk, resumed_from=links[token.run]["resumed_from"])
        for token in tokens
        if token.run in links and links[token.run]["resumed_from"]
    }
    named = {token.run for token in tokens}
    if any(link.pk in named for chain in chains.values() for link in chain):
        return {}
    pks = {link.pk for chain in chains.values() for link in chain if link.generation is not None}
    earlier = {row["id"]: row for row in Run.objects.filter(pk__in=pks).values(*_COLUMNS)} if pks else {}
    return {run: [earlier[link.pk] for link in chain if link.pk in earlier] for run, chain in chains.items()}


def resolve_versions(*, team: Team, versions: Sequence[int], suite: int) -> dict[int, Side]:
    """Pool several versions in their newest revision of a suite; versions without runs that count are left out."""
    tokens = [Token("version", version=pk) for pk in versions]
    rows = _rows(team, tokens) if tokens else []
    found: dict[int, Side] = {}
    for token in tokens:
        with suppress(SideProblem):
            own = [row for row in rows if row["version_id"] == token.version]
            found[token.version] = _side_of_version("version", token, own, {suite})
    return found


def _token(name: str, text: str) -> Token:
    token = parse_token(text)
    if token is None:
        raise SideProblem(name, f"The {name} names neither a run nor a version.", is_unknown=True)
    return token


_COLUMNS = (
    "id",
    "run_id",
    "resumed_from",
    "status",
    "started_text",
    "ordered_at",
    "generation_id",
    "follow_up",
    "format",
    "version_id",
    "version__fingerprint",
    "version__label",
    "version__target_id",
    "version__target__target_id",
    "revision_id",
    "revision__digest",
    "revision__suite_id",
    "revision__suite__suite_id",
    "revision__suite__name",
    "execution__request",
)


def _rows(team: Team, tokens: Iterable[Token]) -> list[dict[str, Any]]:
    """Read the runs that either side may need, oldest first."""
    wanted = Q(pk__in=[token.run for token in tokens if token.run])
    wanted |= Q(version_id__in=[token.version for token in tokens if token.version])
    runs = Run.objects.for_team(team).filter(wanted).order_by("ordered_at", "run_id", "id")
    return list(runs.values(*_COLUMNS))


def _suites_of_runs(rows: Sequence[Mapping[str, Any]], tokens: Iterable[Token]) -> set[int]:
    """A version compared with a run is compared in the run's suite."""
    named = {token.run for token in tokens if token.run}
    return {row["revision__suite_id"] for row in rows if row["id"] in named}


def _side(name: str, token: Token, rows: Rows, suites: set[int], chains: Mapping[uuid.UUID | None, Rows]) -> Side:
    if token.kind == "run":
        found = [row for row in rows if row["id"] == token.run]
        _refuse_other_suite(name, found, suites)
        return _side_of_run(name, token, found, chains.get(token.run, ()))
    found = [row for row in rows if row["version_id"] == token.version]
    return _side_of_version(name, token, found, suites)


def _refuse_other_suite(name: str, rows: Rows, suites: set[int]) -> None:
    """A suite that is asked for and is not the run's must not be passed over in silence."""
    if any(row["revision__suite_id"] not in suites for row in rows if suites):
        raise SideProblem(name, f"The {name} is a run of another suite than the one asked for.", is_unknown=False)


def _side_of_run(name: str, token: Token, rows: Rows, earlier: Rows) -> Side:
    if not rows:
        raise SideProblem(name, f"The {name} is a run that does not exist.", is_unknown=True)
    if rows[0]["generation_id"] is None:
        status = rows[0]["status"]
        raise SideProblem(name, f"The {name} is a run that has no cases yet: it is {status}.", is_unknown=False)
    chain = [row for row in earlier if row["revision_id"] == rows[0]["revision_id"]]
    return _make_side(token, [*chain, *rows], (_revision(rows),))


def _side_of_version(name: str, token: Token, rows: Sequence[Mapping[str, Any]], suites: set[int]) -> Side:
    if not rows:
        raise SideProblem(name, f"The {name} is a version that has no runs.", is_unknown=True)
    pooled, unended = _by_lineage(rows)
    by_revision: dict[int, list[Mapping[str, Any]]] = {}
    for row in pooled:
        if not suites or row["revision__suite_id"] in suites:
            by_revision.setdefault(row["revision_id"], []).append(row)
    revisions = sorted((_revision(found) for found in by_revision.values()), key=lambda each: each.newest_at)[::-1]
    chosen = next((each for each in revisions if token.revision in (0, each.pk)), None)
    if chosen is None:
        sentence = f"The {name} is a version without a completed or limited run of that suite."
        raise SideProblem(name, sentence, is_unknown=False)
    left_out = [row for row in unended if row["revision_id"] == chosen.pk]
    others = (each for each in revisions if each != chosen)
    return _make_side(token, by_revision[chosen.pk], (chosen, *others), left_out)


def _by_lineage(rows: Rows) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Part the runs that have cases into those of lineages that came to an end, and those of lineages that never did.

    Attempts before an end count too. Follow-ups never do.
    """
    origins = _origins(rows)
    ended = {origin for row, origin in zip(rows, origins, strict=True) if row["status"] in POOLED}
    pooled: list[Mapping[str, Any]] = []
    unended: list[Mapping[str, Any]] = []
    for row, origin in zip(rows, origins, strict=True):
        if row["generation_id"] is not None and not row["follow_up"]:
            (pooled if origin in ended else unended).append(row)
    return pooled, unended


def _origins(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name each run's lineage: by the runId it began with, or by its own key while it has none."""
    origins = lineages_of({row["run_id"]: row["resumed_from"] for row in rows if row["run_id"]})
    return [origins.get(row["run_id"]) or str(row["id"]) for row in rows]


def _revision(rows: Sequence[Mapping[str, Any]]) -> Revision:
    newest = rows[-1]
    return Revision(
        pk=newest["revision_id"],
        digest=newest["revision__digest"],
        suite=newest["revision__suite_id"],
        suite_id=newest["revision__suite__suite_id"],
        newest_at=newest["ordered_at"],
    )


def _make_side(token: Token, rows: Rows, revisions: tuple[Revision, ...], left_out: Rows = ()) -> Side:
    row = rows[-1]  # imported reports may claim to continue a run of another version
    ordered = sorted(rows, key=_start)
    origins = _origins(ordered)
    return Side(
        token=token,
        target=row["version__target_id"],
        target_id=row["version__target__target_id"],
        version=row["version_id"],
        fingerprint=row["version__fingerprint"],
        label=row["version__label"],
        suite=row["revision__suite_id"],
        suite_id=row["revision__suite__suite_id"],
        suite_name=row["revision__suite__name"],
        revision=revisions[0],
        revisions=revisions,
        runs=tuple(_side_run(each) for each in ordered),
        lineages=tuple(origins.index(origin) for origin in origins),
        left_out=tuple(_side_run(each) for each in sorted(left_out, key=_start)),
    )


def _start(row: Mapping[str, Any]) -> tuple[float, str, str]:
    """Order runs as the command line does, which knows what the reports say."""
    return run_order(restored(row["started_text"]), restored(row["run_id"]))


def _side_run(row: Mapping[str, Any]) -> SideRun:
    return SideRun(
        pk=row["id"],
        run_id=row["run_id"],
        resumed_from=row["resumed_from"],
        status=row["status"],
        started=row["started_text"],
        ordered_at=row["ordered_at"],
        generation=row["generation_id"],
        version=row["version_id"],
        revision=row["revision_id"],
        options=row["execution__request"] or {},
        follow_up=row["follow_up"],
        format=row["format"],
    )
