"""The team's notes as a list, with what each matches in the newest completed runs of its target."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import Count, Max, Q
from django.utils import timezone

from reports.domain.attention import NoteFacts, Standing, standing_of
from reports.models import Case, Membership, Note, Run, ScenarioVariant, Signature, Target, Team, Version
from reports.selectors.compare_rows import signature_words
from reports.selectors.note_scope import named_failures
from reports.selectors.notes import FAILING

NOTES_A_PAGE = 50
VERSIONS_OFFERED = 50


@dataclass(frozen=True, slots=True)
class Matches:
    """What a note meets in the newest completed runs: failing cases it knows, failing otherwise, and decided cases."""

    known: int = 0
    otherwise: int = 0
    decided: int = 0


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note; texts in stored form. ``about`` names the scenario, or the failure in words.

    ``known`` names the failures that a note on a scenario variant covers, by key.
    """

    pk: int
    target: int
    target_id: str
    variant_key: str
    signature_key: str
    about: str
    chosen: Mapping[str, str]
    state: str
    owner: str
    text: str
    link: str
    expires_on: date | None
    first_version: int | None
    last_version: int | None
    versions: tuple[str, str]
    created_by: str
    updated_at: datetime
    closed_at: datetime | None
    is_expired: bool
    matches: Matches
    newest_run: uuid.UUID | None
    known: Mapping[str, str]
    knows_undecided: bool
    every_failure: bool

    @property
    def is_done(self) -> bool:
        """Tell whether an open note matches nothing any more, so that closing it is offered."""
        nothing = not (self.matches.known or self.matches.otherwise)
        was_run = bool(self.matches.decided) or bool(self.signature_key and self.newest_run)
        return self.closed_at is None and (self.is_expired or (nothing and was_run))


def list_notes(*, team: Team, is_closed: bool = False, before: int | None = None) -> tuple[tuple[NoteRow, ...], bool]:
    """Return notes, the newest first, from a cursor on, and whether more follow."""
    notes = Note.objects.for_team(team).filter(closed_at__isnull=not is_closed).order_by("-pk")
    if before is not None:
        notes = notes.filter(pk__lt=before)
    named = notes.select_related(
        "target", "variant", "signature", "owner", "created_by", "first_version", "last_version"
    )
    found = list(named[: NOTES_A_PAGE + 1])
    shown = found[:NOTES_A_PAGE]
    newest = _newest_runs(team, {note.target_id for note in shown})
    matches = _matches(shown, newest)
    names = named_failures({pk for note in shown for pk in note.known})
    rows = (_row(note, matches.get(note.pk, Matches()), newest.get(note.target_id, {}), names) for note in shown)
    return tuple(rows), len(found) > NOTES_A_PAGE


def find_note(*, team: Team, pk: int) -> NoteRow | None:
    named = Note.objects.for_team(team).select_related(
        "target", "variant", "signature", "owner", "created_by", "first_version", "last_version"
    )
    note = named.filter(pk=pk).first()
    return _row(note, Matches(), {}, named_failures(note.known)) if note else None


def _row(
    note: Note, matches: Matches, newest: Mapping[int, uuid.UUID], names: Mapping[int, tuple[str, str]]
) -> NoteRow:
    variant, signature = note.variant, note.signature
    bounds = (note.first_version, note.last_version)
    return NoteRow(
        pk=note.pk,
        target=note.target_id,
        target_id=note.target.target_id,
        variant_key=variant.key if variant else "",
        signature_key=signature.key if signature else "",
        about=variant.scenario_id if variant else signature_words(signature) if signature else "",
        chosen=variant.variants if variant else {},
        state=note.state,
        owner=note.owner.username if note.owner else "",
        text=note.text,
        link=note.link,
        expires_on=note.expires_on,
        first_version=note.first_version_id,
        last_version=note.last_version_id,
        versions=(_name(bounds[0]), _name(bounds[1])),
        created_by=note.created_by.username if note.created_by else "",
        updated_at=note.updated_at,
        closed_at=note.closed_at,
        is_expired=note.expires_on is not None and note.expires_on < timezone.now().date(),
        matches=matches,
        newest_run=next(iter(newest.values()), None),
        known=dict(names[pk] for pk in note.known if pk in names),
        knows_undecided=note.knows_undecided,
        every_failure=note.every_failure,
    )


def _name(version: Version | None) -> str:
    return (version.label or version.fingerprint) if version else ""


def _newest_runs(team: Team, targets: Iterable[int]) -> dict[int, dict[int, uuid.UUID]]:
    """Return, by target and generation, the newest completed run of each of its suites."""
    completed = Run.objects.for_team(team).filter(version__target__in=list(targets), status="completed")
    places = completed.order_by().values("version__target", "revision__suite").annotate(at=Max("ordered_at"))
    wanted = Q(pk__in=[])
    for place in places:
        wanted |= Q(
            version__target=place["version__target"], revision__suite=place["revision__suite"], ordered_at=place["at"]
        )
    found: dict[int, dict[int, uuid.UUID]] = {}
    rows = completed.filter(wanted, generation__isnull=False).newest_first()
    for target, generation, pk in rows.values_list("version__target_id", "generation_id", "pk"):
        found.setdefault(target, {})[int(generation or 0)] = pk
    return found


def _matches(notes: Sequence[Note], newest: Mapping[int, Mapping[int, uuid.UUID]]) -> dict[int, Matches]:
    """Count what each note meets; one query."""
    generations = [generation for runs in newest.values() for generation in runs]
    variants = {note.variant_id for note in notes if note.variant_id}
    signatures = {note.signature_id for note in notes if note.signature_id}
    if not generations or not (variants or signatures):
        return {}
    cases = Case.objects.filter(Q(variant_id__in=variants) | Q(signature_id__in=signatures))
    grouped = (
        cases.filter(generation_id__in=generations, status__in=(*FAILING, "passed"))
        .order_by()
        .values_list("generation_id", "variant_id", "signature_id", "status")
        .annotate(n=Count("pk"))
    )
    rows: list[Any] = list(grouped)
    return {note.pk: _matched(note, rows, newest.get(note.target_id, {})) for note in notes}


def _matched(note: Note, rows: Sequence[Any], generations: Mapping[int, uuid.UUID]) -> Matches:
    facts = NoteFacts(
        note.pk,
        note.target_id,
        note.variant_id,
        note.signature_id,
        frozenset(note.known),
        Note.State.KNOWN_ISSUE,
        every_failure=note.every_failure,
    )
    known = otherwise = decided = 0
    for generation, variant, signature, status, number in rows:
        is_about = variant == note.variant_id if note.variant_id else signature == note.signature_id
        if generation not in generations or not is_about:
            continue
        decided += number
        if status in FAILING:
            standing = standing_of(variant, signature, [facts]).standing
            known += number * (standing is Standing.COVERED)
            otherwise += number * (standing is Standing.FAILS_DIFFERENTLY)
    return Matches(known, otherwise, decided)


# ------------------------------------------------------------------------------------------------- what a form offers


@dataclass(frozen=True, slots=True)
class About:
    """What a new note would be on. ``key`` is the scenario variant's or the signature's; texts in stored form."""

    kind: str
    key: str
    words: str
    chosen: Mapping[str, str]
    target: int
    target_id: str
    open_note: int | None


def about_variant(*, team: Team, target: int, key: str) -> About | None:
    row = ScenarioVariant.objects.filter(team=team, key=key).first()
    held = Target.objects.for_team(team).filter(pk=target).first()
    if row is None or held is None:
        return None
    note = Note.objects.filter(target=held, variant=row, closed_at__isnull=True).values_list("pk", flat=True).first()
    return About("variant", key, row.scenario_id, row.variants, held.pk, held.target_id, note)


def about_signature(*, team: Team, target: int, key: str) -> About | None:
    row = Signature.objects.filter(team=team, key=key).first()
    held = Target.objects.for_team(team).filter(pk=target).first()
    if row is None or held is None:
        return None
    note = Note.objects.filter(target=held, signature=row, closed_at__isnull=True).values_list("pk", flat=True).first()
    return About("signature", key, signature_words(row), {}, held.pk, held.target_id, note)


def about_variant_pk(*, team: Team, key: str) -> int:
    """Return the primary key of a scenario variant that the team has, 0 otherwise."""
    return ScenarioVariant.objects.filter(team=team, key=key).values_list("pk", flat=True).first() or 0


def member_names(*, team: Team) -> tuple[str, ...]:
    rows = Membership.objects.filter(team=team).order_by("user__username").values_list("user__username", flat=True)
    return tuple(rows)


def newest_version_names(*, target: int) -> tuple[tuple[int, str], ...]:
    """Return the newest versions of a target with their names, the newest first."""
    rows = Version.objects.filter(target=target).annotate(at=Max("runs__ordered_at")).order_by("-at", "-pk")
    return tuple((row.pk, row.label or row.fingerprint) for row in rows[:VERSIONS_OFFERED])
