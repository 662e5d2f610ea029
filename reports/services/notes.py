"""Writing, changing and closing notes. Each step stands in the audit trail."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.utils import timezone
from evalrunner.compare.outcomes import FAILING_STATUSES

from reports.models import Case, Membership, Note, Run, ScenarioVariant, Signature, Target, Team, User, Version
from reports.selectors.policies import policy_of_team
from reports.services.audit import record
from reports.services.run_changes import recount_changes
from reports.text import storable

MOST_AT_ONCE = 500


class NoteRefused(Exception):
    """A note that cannot be written; ``code`` is stable text, ``sentence`` says what to mend."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


@dataclass(frozen=True, slots=True)
class NoteContent:
    """What a person says in a note. ``owner`` is a member's user name; versions are primary keys, None for no bound."""

    state: str
    text: str = ""
    link: str = ""
    owner: str = ""
    expires_on: date | None = None
    first_version: int | None = None
    last_version: int | None = None


def note_signature(*, team: Team, user: User, target_pk: int, signature: str, content: NoteContent) -> Note:
    """Write a note on a failure signature (its key) of a target, or change the open one that is there."""
    found = Signature.objects.filter(team=team, key=signature).first()
    if found is None:
        raise NoteRefused("signature_unknown", "There is no such failure signature in your team.")
    target = _target(team, target_pk)
    with transaction.atomic():
        _recount(team, target)
        return _put(team, user, target, content, {"signature": found}, [])


def note_variant(
    *, team: Team, user: User, target_pk: int, variant: str, content: NoteContent, run: Run | None = None
) -> Note:
    """Write a note on a scenario variant (its key) of a target, or change the open one that is there.

    It knows the ways in which the scenario variant fails in ``run``.
    """
    found = ScenarioVariant.objects.filter(team=team, key=variant).first()
    if found is None:
        raise NoteRefused("variant_unknown", "There is no such scenario variant in your team.")
    target = _target(team, target_pk)
    known = _known(run, [found.pk]).get(found.pk, []) if run else []
    with transaction.atomic():
        _recount(team, target)
        return _put(team, user, target, content, {"variant": found}, known)


def note_cluster(*, team: Team, user: User, run: Run, signature: str, content: NoteContent) -> tuple[Note, ...]:
    """Write a note on each scenario variant that fails with a signature in a run, at most ``MOST_AT_ONCE``."""
    cases = Case.objects.filter(
        generation_id=run.generation_id or 0, status__in=FAILING_STATUSES, signature__key=signature
    )
    variants = list(
        ScenarioVariant.objects.filter(team=team, cases__in=cases).order_by("pk").distinct()[: MOST_AT_ONCE + 1]
    )
    if not variants:
        raise NoteRefused("signature_unknown", "No case of that run fails in this way.")
    if len(variants) > MOST_AT_ONCE:
        sentence = f"More than {MOST_AT_ONCE} scenario variants fail in this way: note the signature instead."
        raise NoteRefused("too_many", sentence)
    target = _target(team, run.version.target_id)
    known = _known(run, [variant.pk for variant in variants])
    with transaction.atomic():
        _recount(team, target)
        return tuple(
            _put(team, user, target, content, {"variant": variant}, known.get(variant.pk, [])) for variant in variants
        )


def change_note(*, team: Team, user: User, pk: int, content: NoteContent) -> Note:
    """Change an open note; NoteRefused where there is none."""
    with transaction.atomic():
        note = Note.objects.for_team(team).select_for_update().filter(pk=pk, closed_at__isnull=True).first()
        if note is None:
            raise NoteRefused("note_unknown", "There is no such open note in your team.")
        _recount(team, note.target)
        about: dict[str, Any] = {"variant": note.variant} if note.variant else {"signature": note.signature}
        return _put(team, user, note.target, content, about, note.known)


def close_notes(*, team: Team, user: User, pks: Collection[int]) -> int:
    """Close notes and return how many were open; closing again does nothing."""
    with transaction.atomic():
        rows = list(Note.objects.for_team(team).select_for_update().filter(pk__in=pks, closed_at__isnull=True))
        for note in rows:
            note.closed_at, note.closed_by = timezone.now(), user
            note.save()
            record(team=team, actor=user, action="note.closed", subject=_subject(note), note=note.pk)
        _recount(team, *{note.target for note in rows})
    return len(rows)


def _recount(team: Team, *targets: Target) -> None:
    """Let the verdicts on runs of targets be found anew where the team's policy heeds notes."""
    if targets and policy_of_team(team).heeds_known_issues:
        recount_changes(Run.objects.filter(version__target__in=targets, change__isnull=False))


def _target(team: Team, pk: int) -> Target:
    target = Target.objects.for_team(team).filter(pk=pk).first()
    if target is None:
        raise NoteRefused("target_unknown", "There is no such target in your team.")
    return target


def _known(run: Run | None, variants: Collection[int]) -> Mapping[int, list[int]]:
    """Return the signatures with which scenario variants fail in a run."""
    cases = Case.objects.filter(generation_id=(run.generation_id if run else None) or 0, variant_id__in=variants)
    found: dict[int, list[int]] = {}
    rows = cases.filter(status__in=FAILING_STATUSES, signature__isnull=False).order_by("signature_id")
    for variant, signature in rows.values_list("variant_id", "signature_id").distinct():
        found.setdefault(variant, []).append(int(signature or 0))
    return found


def _put(
    team: Team, user: User, target: Target, content: NoteContent, about: Mapping[str, Any], known: list[int]
) -> Note:
    Target.objects.select_for_update().get(pk=target.pk)  # one at a time: a thing has one open note
    note = Note.objects.filter(target=target, closed_at__isnull=True, **about).first()
    is_new = note is None
    note = note or Note(team=team, target=target, created_by=user, **about)
    note.state, note.text, note.link = _state(content.state), storable(content.text.strip()), _link(content.link)
    note.owner = _owner(team, content.owner)
    note.expires_on, note.known = content.expires_on, sorted({*note.known, *known})
    note.first_version = _version(target, content.first_version)
    note.last_version = _version(target, content.last_version)
    note.save()
    said = {name: str(value) for name, value in asdict(content).items() if value}
    action = "note.written" if is_new else "note.changed"
    record(team=team, actor=user, action=action, subject=_subject(note), note=note.pk, **said)
    return note


def _state(state: str) -> str:
    if state not in Note.State.values:
        raise NoteRefused("state_unknown", f"A note’s state is one of: {', '.join(Note.State.values)}.")
    return state


def _link(link: str) -> str:
    kept = link.strip()
    try:
        parts = urlsplit(kept)
        is_good = parts.scheme in ("http", "https") and bool(parts.netloc) and len(kept) <= 2_000
    except ValueError:
        is_good = False
    if kept and not is_good:
        raise NoteRefused("link_invalid", "A link begins with https:// or http://.")
    return storable(kept)


def _owner(team: Team, name: str) -> User | None:
    if not name:
        return None
    membership = Membership.objects.filter(team=team, user__username=name).select_related("user").first()
    if membership is None:
        raise NoteRefused("owner_unknown", "The owner is no member of your team.")
    return membership.user


def _version(target: Target, pk: int | None) -> Version | None:
    if pk is None:
        return None
    version = Version.objects.filter(target=target, pk=pk).first()
    if version is None:
        raise NoteRefused("version_unknown", "A version that bounds the note is not one of its target.")
    return version


def _subject(note: Note) -> str:
    if note.variant is not None:
        return note.variant.scenario_id
    signature = note.signature
    return f"failure signature {signature.key}" if signature is not None else ""
