"""Notes applied to what failed: on runs, clusters and rows of a comparison."""

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from django.db.models import Count, Min, Q
from django.utils import timezone

from reports.domain.attention import (
    Attention,
    Found,
    NoteFacts,
    VersionPlace,
    standing_of,
    standing_without_failure,
)
from reports.models import Case, Note, Run, Team, Version

FAILING = ("failed", "error")


@dataclass(frozen=True, slots=True)
class NoteBook:
    """The open notes of some targets, ready to be asked about versions of them."""

    notes: tuple[NoteFacts, ...]
    places: Mapping[int, VersionPlace]
    today: date

    def of_version(self, *, target: int, version: int) -> tuple[NoteFacts, ...]:
        """Return the notes that hold for a version."""
        place = self.places.get(version)
        return tuple(note for note in self.notes if note.holds(target=target, place=place, today=self.today))


def note_book(*, team: Team, targets: Collection[int], versions: Collection[int]) -> NoteBook:
    """Read the open notes of targets; one query, and one more where a note is bound to versions."""
    rows = Note.objects.for_team(team).filter(target__in=targets, closed_at__isnull=True).order_by("pk")
    found = list(rows.only(*_FACTS))
    bounds = {pk for note in found for pk in (note.first_version_id, note.last_version_id) if pk}
    places = version_places(bounds | set(versions)) if bounds else {}
    return NoteBook(tuple(_facts(note, places) for note in found), places, timezone.now().date())


_FACTS = (
    "target_id",
    "variant_id",
    "signature_id",
    "known",
    "state",
    "expires_on",
    "first_version_id",
    "last_version_id",
    "knows_undecided",
    "every_failure",
)


def _facts(note: Note, places: Mapping[int, VersionPlace]) -> NoteFacts:
    return NoteFacts(
        pk=note.pk,
        target=note.target_id,
        variant=note.variant_id,
        signature=note.signature_id,
        known=frozenset(note.known),
        state=note.state,
        expires_on=note.expires_on,
        first=places.get(note.first_version_id or 0),
        last=places.get(note.last_version_id or 0),
        knows_undecided=note.knows_undecided,
        every_failure=note.every_failure,
    )


def version_places(versions: Collection[int]) -> dict[int, VersionPlace]:
    """Return where versions stand in the order of their target's versions."""
    rows = Version.objects.filter(pk__in=versions).annotate(began=Min("runs__ordered_at"))
    return {pk: (began or seen, seen, pk) for pk, began, seen in rows.values_list("pk", "began", "first_seen_at")}


# ---------------------------------------------------------------------------------------------------------------- runs


def attention_of_runs(*, team: Team, runs: Collection[uuid.UUID]) -> dict[uuid.UUID, Attention]:
    """Count the failing cases of runs, and those that notes cover; at most four queries, however many runs."""
    columns = ("pk", "generation_id", "version_id", "version__target_id", "failed", "error")
    rows = list(Run.objects.for_team(team).filter(pk__in=runs).order_by().values_list(*columns))
    failing = [row for row in rows if row[4] + row[5]]
    book = note_book(team=team, targets={row[3] for row in failing}, versions={row[2] for row in failing})
    holding = {row[1]: book.of_version(target=row[3], version=row[2]) for row in failing if row[1]}
    covered: dict[int, int] = {}
    notes = {note for each in holding.values() for note in each}
    for generation, variant, signature, number in _noted_failures([key for key in holding if holding[key]], notes):
        if not standing_of(variant, signature, holding[generation]).needs_attention:
            covered[generation] = covered.get(generation, 0) + number
    return {pk: Attention(failed + error, covered.get(key, 0)) for pk, key, _v, _t, failed, error in rows}


def _noted_failures(
    generations: Collection[int], notes: Iterable[NoteFacts]
) -> Iterable[tuple[int, int, int | None, int]]:
    """Count failing cases that notes speak of, by generation, scenario variant and signature."""
    if not generations:
        return ()
    kept = list(notes)
    variants = {note.variant for note in kept if note.variant is not None}
    signatures = {note.signature for note in kept if note.signature is not None}
    cases = Case.objects.filter(generation_id__in=generations, status__in=FAILING).order_by()
    about = cases.filter(Q(variant_id__in=variants) | Q(signature_id__in=signatures))
    return about.values_list("generation_id", "variant_id", "signature_id").annotate(n=Count("pk"))


@dataclass(frozen=True, slots=True)
class NotedRun:
    """What notes say about one run: by signature how many cases they cover, and the note on the signature itself."""

    attention: Attention
    covered: Mapping[int | None, int]
    on_signature: Mapping[int, int]


def noted_run(*, team: Team, run: Run) -> NotedRun:
    target = run.version.target_id
    book = note_book(team=team, targets=[target], versions=[run.version_id])
    notes = book.of_version(target=target, version=run.version_id)
    covered: dict[int | None, int] = {}
    if notes and run.generation_id:
        for _generation, variant, signature, number in _noted_failures([run.generation_id], notes):
            if not standing_of(variant, signature, notes).needs_attention:
                covered[signature] = covered.get(signature, 0) + number
    on_signature = {note.signature: note.pk for note in notes if note.signature is not None}
    return NotedRun(Attention(run.failed + run.error, sum(covered.values())), covered, on_signature)


# ---------------------------------------------------------------------------------------------------------- comparison


@dataclass(frozen=True, slots=True)
class NotedSide:
    """The notes that hold for one side of a comparison."""

    notes: tuple[NoteFacts, ...]

    def found(self, variant: int, signatures: Collection[str], *, is_lost: bool) -> Found | None:
        """Judge a row by the signatures of its failing cases: the one that needs attention most; None without a note.

        Without any failing case the row passed or was lost: only notes on its scenario variant speak of that.
        """
        if not self.notes:
            return None
        if not signatures:
            quiet = standing_without_failure(variant, self.notes, is_lost=is_lost)
            return quiet if quiet.note is not None else None
        judged = [standing_of(variant, int(key), self.notes) for key in signatures]
        open_ = [each for each in judged if each.needs_attention]
        worst = next((each for each in open_ if each.note is not None), None) or (open_[0] if open_ else judged[0])
        return worst if worst.note is not None else None


def noted_side(*, team: Team, target: int, version: int) -> NotedSide:
    book = note_book(team=team, targets=[target], versions=[version])
    return NotedSide(book.of_version(target=target, version=version))


@dataclass(frozen=True, slots=True)
class NoteWords:
    """A note as rows and clusters show it; texts in stored form, ``state`` in words."""

    pk: int
    state: str
    owner: str
    text: str


def note_words(*, team: Team, pks: Collection[int]) -> dict[int, NoteWords]:
    """Return notes to be shown beside what they cover."""
    if not pks:
        return {}
    states = dict(Note.State.choices)
    rows = Note.objects.for_team(team).filter(pk__in=pks).values_list("pk", "state", "owner__username", "text")
    return {pk: NoteWords(pk, states[state], owner or "", text) for pk, state, owner, text in rows}
