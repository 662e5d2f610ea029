"""Writing, changing and closing notes. Each step stands in the audit trail, a change with what was said before."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from reports.models import Note, Run, ScenarioVariant, Signature, Target, Team, User
from reports.querysets import WAITING, TeamQuerySet
from reports.selectors.note_scope import NamedVariant, Seen, Source, failing_so, named_failures, seen_in
from reports.selectors.policies import policy_of_team
from reports.services.audit import differences, record
from reports.services.locks import lock_targets
from reports.services.note_checks import NoteContent, NoteRefused, checked
from reports.services.run_changes import recount_changes
from reports.text import restored, storable

MOST_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class NotedCluster:
    """What became of a cluster: the notes that were written, and the scenario variants that had one and keep it."""

    written: tuple[Note, ...]
    kept: tuple[NamedVariant, ...]


def note_signature(
    *, team: Team, user: User, target_pk: int, signature: str, content: NoteContent, is_new: bool = False
) -> Note:
    """Write a note on a failure signature (its key) of a target, or change the open one that is there.

    With ``is_new`` another one that is there is left alone: NoteRefused.
    """
    found = Signature.objects.filter(team=team, key=signature).first()
    if found is None:
        raise NoteRefused("signature_unknown", "There is no such failure signature in your team.")
    target = _target(team, target_pk)
    with transaction.atomic():
        return _put(team, user, target, content, {"signature": found}, Seen(), is_new=is_new)


def note_variant(
    *,
    team: Team,
    user: User,
    target_pk: int,
    variant: str,
    content: NoteContent,
    source: Source | None = None,
    is_new: bool = False,
) -> Note:
    """Write a note on a scenario variant (its key) of a target, or change the open one that is there.

    It knows how the scenario variant fails in ``source``, or that it is not decided there; without one, nothing. With
    ``is_new`` another one that is there is left alone: NoteRefused.
    """
    found = ScenarioVariant.objects.filter(team=team, key=variant).first()
    if found is None:
        raise NoteRefused("variant_unknown", "There is no such scenario variant in your team.")
    target = _target(team, target_pk)
    with transaction.atomic():
        return _put(team, user, target, content, {"variant": found}, _seen(source, found.pk), is_new=is_new)


def note_cluster(*, team: Team, user: User, source: Source, signature: str, content: NoteContent) -> NotedCluster:
    """Write a note on each scenario variant that fails with a signature in a source, at most ``MOST_AT_ONCE``.

    A scenario variant that has an open note keeps it as it is.
    """
    found = failing_so(team=team, source=source, signature=signature, most=MOST_AT_ONCE + 1)
    if not found:
        raise NoteRefused("signature_unknown", f"No case of that {source.words} fails in this way.")
    if len(found) > MOST_AT_ONCE:
        sentence = f"More than {MOST_AT_ONCE} scenario variants fail in this way: note the signature instead."
        raise NoteRefused("too_many", sentence)
    target = _target(team, source.target)
    seen = seen_in(source, [each.pk for each in found])
    with transaction.atomic():
        lock_targets([target.pk])  # one writer at a time: a thing has one open note
        variants = ScenarioVariant.objects.in_bulk([each.pk for each in found])
        noted = set(_open_notes(target).filter(variant__in=variants).values_list("variant_id", flat=True))
        written = tuple(
            _put(team, user, target, content, {"variant": variants[each.pk]}, seen[each.pk])
            for each in found
            if each.pk not in noted
        )
    return NotedCluster(written, tuple(each for each in found if each.pk in noted))


def change_note(
    *, team: Team, user: User, pk: int, content: NoteContent, source: Source | None = None, opened_at: str = ""
) -> Note:
    """Change an open note; NoteRefused where there is none. With ``source`` it also knows what happens there.

    ``opened_at`` is the moment of the change on which the new one is based: one made meanwhile is not overwritten.
    """
    with transaction.atomic():
        note = next(iter(_locked_notes(team, [pk])), None)
        if note is None:
            raise NoteRefused("note_unknown", "There is no such open note in your team.")
        if opened_at and opened_at != note.updated_at.isoformat():
            raise NoteRefused("note_changed", f"This note was changed since you opened it. It says now: {_kept(note)}.")
        about: dict[str, Any] = {"variant": note.variant} if note.variant else {"signature": note.signature}
        seen = _seen(source, note.variant_id) if note.variant_id is not None else Seen()
        return _put(team, user, note.target, content, about, seen)


def close_notes(*, team: Team, user: User, pks: Collection[int]) -> int:
    """Close notes and return how many were open; closing again does nothing."""
    with transaction.atomic():
        rows = _locked_notes(team, pks)
        for note in rows:
            note.closed_at, note.closed_by = timezone.now(), user
            note.save()
            record(team=team, actor=user, action="note.closed", subject=_subject(note), note=note.pk)
        _recount(team, *{note.target for note in rows})
    return len(rows)


def _recount(team: Team, *targets: Target) -> None:
    """Let the verdicts on runs of targets be found anew where the team's policy heeds notes."""
    if targets and policy_of_team(team).heeds_known_issues:
        recount_changes(Run.objects.filter(version__target__in=targets).filter(Q(change__isnull=False) | WAITING))


def _target(team: Team, pk: int) -> Target:
    target = Target.objects.for_team(team).filter(pk=pk).first()
    if target is None:
        raise NoteRefused("target_unknown", "There is no such target in your team.")
    return target


def _seen(source: Source | None, variant: int) -> Seen:
    return seen_in(source, [variant]).get(variant, Seen()) if source is not None else Seen()


def _locked_notes(team: Team, pks: Collection[int]) -> list[Note]:
    """Return those of some notes that are open, once nobody else can change any of their targets."""
    found = Note.objects.for_team(team).filter(pk__in=pks)
    lock_targets(found.values_list("target_id", flat=True))
    return list(found.filter(closed_at__isnull=True).order_by("pk"))


def _open_notes(target: Target) -> TeamQuerySet[Note]:
    return Note.objects.filter(target=target, closed_at__isnull=True)


def _put(
    team: Team,
    user: User,
    target: Target,
    content: NoteContent,
    about: Mapping[str, Any],
    seen: Seen,
    *,
    is_new: bool = False,
) -> Note:
    """Write the note on a thing or change the open one; what it knew it goes on knowing."""
    lock_targets([target.pk])  # one writer at a time: a thing has one open note
    found = _open_notes(target).filter(**about).first()
    note = found or Note(team=team, target=target, created_by=user, **about)
    before = _said(note) if found else {}
    said = checked(content, team=team, target=target, note=note)
    for member in fields(said):
        setattr(note, member.name, getattr(said, member.name))
    note.known = sorted({*note.known, *seen.known})
    note.knows_undecided = note.knows_undecided or seen.is_undecided
    after = _said(note)
    if found and before == after:
        return found
    if found and is_new:
        raise NoteRefused("note_exists", f"There is a note on it already, number {found.pk}, which stays as it is.")
    note.save()
    _recount(team, target)
    details = differences(before, after) if found else {name: value for name, value in after.items() if value}
    action = "note.changed" if found else "note.written"
    record(team=team, actor=user, action=action, subject=_subject(note), note=note.pk, **details)
    return note


def _said(note: Note) -> dict[str, Any]:
    """Return what a note says in words that are readable without it, for the audit trail."""
    bounds = {"first_version": note.first_version, "last_version": note.last_version}
    return {
        "state": note.state,
        "text": restored(note.text),
        "link": restored(note.link),
        "owner": note.owner.username if note.owner else "",
        "expires_on": note.expires_on.isoformat() if note.expires_on else "",
        **{name: restored(each.label or each.fingerprint) if each else "" for name, each in bounds.items()},
        "covers": [*_failures(note), *(["not decided"] if note.knows_undecided else [])],
        "every_failure": note.every_failure,
    }


def _failures(note: Note) -> list[str]:
    return [restored(words) for _key, words in named_failures(note.known).values()]


def _kept(note: Note) -> str:
    said = _said(note)
    words = [f"{name.replace('_', ' ')} {value}" for name, value in said.items() if value and name != "covers"]
    return storable("; ".join(words))


def _subject(note: Note) -> str:
    if note.variant is not None:
        return note.variant.scenario_id
    signature = note.signature
    return f"failure signature {signature.key}" if signature is not None else ""
