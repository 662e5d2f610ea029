"""What a note on a scenario variant knows of it: how it failed where the note was written, or that it was not decided.

A note is written from a run (with what that run resumed or retried, whose attempts count in it) or from a version.
"""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from evalrunner.compare import DECIDED
from evalrunner.compare.outcomes import FAILING_STATUSES

from reports.models import Case, Run, Signature, Team, Version
from reports.selectors.attempts import ancestors_of
from reports.selectors.compare_rows import signature_words


@dataclass(frozen=True, slots=True)
class Source:
    """Where a note is written from, ``words`` being "run" or "version": the generations whose attempts count there.

    ``own`` are those without what a run resumed or retried.
    """

    words: str
    target: int
    generations: tuple[int, ...]
    own: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of a scenario variant: primary keys of the signatures it failed with, or that it was not decided."""

    known: tuple[int, ...] = ()
    is_undecided: bool = False


@dataclass(frozen=True, slots=True)
class NamedVariant:
    """A scenario variant with the open note on it, if there is one; texts in stored form."""

    pk: int
    scenario_id: str
    chosen: Mapping[str, str]
    note: int | None


def source_of(*, team: Team, run: uuid.UUID | None = None, version: int | None = None) -> Source | None:
    """Find where a note is written from, by a run or else by a version; None where the team has no such thing."""
    if run is not None:
        found = Run.objects.for_team(team).select_related("version").filter(pk=run).first()
        return _source_of_run(team, found) if found else None
    held = Version.objects.filter(pk=version or 0, target__team=team).first()
    if held is None:
        return None
    runs = Run.objects.filter(version=held, generation__isnull=False).order_by("ordered_at", "pk")
    keys = tuple(int(key or 0) for key in runs.values_list("generation", flat=True))
    return Source("version", held.target_id, keys, keys)


def _source_of_run(team: Team, run: Run) -> Source:
    earlier = ancestors_of(team_pk=team.pk, resumed_from=run.resumed_from) if run.resumed_from else ()
    keys = (*(link.generation for link in earlier), run.generation_id)
    own = () if run.generation_id is None else (run.generation_id,)
    return Source("run", run.version.target_id, tuple(key for key in keys if key is not None), own)


def seen_in(source: Source, variants: Collection[int]) -> Mapping[int, Seen]:
    """Return what became of scenario variants in a source; variants that it does not have are left out."""
    cases = Case.objects.filter(generation__in=source.generations, variant__in=variants).order_by()
    statuses: dict[int, set[str]] = {}
    known: dict[int, set[int]] = {}
    for variant, status, signature in cases.values_list("variant_id", "status", "signature_id").distinct():
        statuses.setdefault(variant, set()).add(status)
        if status in FAILING_STATUSES and signature is not None:
            known.setdefault(variant, set()).add(signature)
    return {
        variant: Seen(tuple(sorted(known.get(variant, ()))), is_undecided=found.isdisjoint(DECIDED))
        for variant, found in statuses.items()
    }


def named_failures(known: Collection[int]) -> Mapping[int, tuple[str, str]]:
    """Return key and words (stored form) of failure signatures, by primary key."""
    rows = Signature.objects.filter(pk__in=known).order_by("pk") if known else ()
    return {row.pk: (row.key, signature_words(row)) for row in rows}


def failing_so(*, team: Team, source: Source, signature: str, most: int) -> tuple[NamedVariant, ...]:
    """Return the first ``most`` scenario variants that fail with a signature (its key) in a source, by scenario."""
    cases = Case.objects.filter(generation__in=source.own, status__in=FAILING_STATUSES, signature__key=signature)
    variants = team.scenario_variants.filter(cases__in=cases).order_by("scenario_id", "pk").distinct()[:most]
    rows = list(variants)
    notes = team.notes.filter(target=source.target, closed_at__isnull=True, variant__in=rows)
    noted = dict(notes.values_list("variant_id", "pk"))
    return tuple(NamedVariant(row.pk, row.scenario_id, row.variants, noted.get(row.pk)) for row in rows)
