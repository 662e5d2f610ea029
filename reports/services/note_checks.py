"""What a person says in a note, and which of it cannot be kept."""

from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from django.utils import timezone

from reports.models import Membership, Note, Target, Team, User, Version
from reports.selectors.notes import version_places
from reports.text import storable


class NoteRefused(Exception):
    """A note that cannot be written; ``code`` is stable text, ``sentence`` says what to mend."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


@dataclass(frozen=True, slots=True)
class NoteContent:
    """What a person says in a note. ``owner`` is a member's user name; versions are primary keys, None for no bound.

    ``every_failure``, of a note on a scenario variant: it covers also what it does not know.
    """

    state: str
    text: str = ""
    link: str = ""
    owner: str = ""
    expires_on: date | None = None
    first_version: int | None = None
    last_version: int | None = None
    every_failure: bool = False


@dataclass(frozen=True, slots=True)
class CheckedContent:
    """The same, ready to be stored: members are those of ``Note``."""

    state: str
    text: str
    link: str
    owner: User | None
    expires_on: date | None
    first_version: Version | None
    last_version: Version | None
    every_failure: bool


def checked(content: NoteContent, *, team: Team, target: Target, note: Note) -> CheckedContent:
    """Check what is to be said in a note, as it stands now; NoteRefused names the first thing that cannot be kept."""
    if content.every_failure and note.variant_id is None:
        sentence = "Only a note on a scenario variant can cover every failure; one on a failure covers that failure."
        raise NoteRefused("scope_invalid", sentence)
    first, last = _version(target, content.first_version), _version(target, content.last_version)
    _check_order(first, last)
    return CheckedContent(
        state=_state(content.state),
        text=storable(content.text.strip()),
        link=_link(content.link),
        owner=_owner(team, content.owner),
        expires_on=_last_day(content.expires_on, note.expires_on),
        first_version=first,
        last_version=last,
        every_failure=content.every_failure,
    )


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


def _last_day(day: date | None, kept: date | None) -> date | None:
    """Refuse a day that is over, since such a note would hold nowhere; the one it has had may stay."""
    today = timezone.now().date()
    if day is not None and day < today and day != kept:
        sentence = f"The last day {day.isoformat()} is over; give {today.isoformat()} (today, UTC) or a later one."
        raise NoteRefused("last_day_over", sentence)
    return day


def _version(target: Target, pk: int | None) -> Version | None:
    if pk is None:
        return None
    version = Version.objects.filter(target=target, pk=pk).first()
    if version is None:
        raise NoteRefused("version_unknown", "A version that bounds the note is not one of its target.")
    return version


def _check_order(first: Version | None, last: Version | None) -> None:
    if first is None or last is None:
        return
    places = version_places([first.pk, last.pk])
    if places[first.pk] > places[last.pk]:
        names = [version.label or version.fingerprint for version in (first, last)]
        sentence = f"The first version, {names[0]}, comes after the last, {names[1]}: the note would hold nowhere."
        raise NoteRefused("versions_reversed", sentence)
