"""Notes: the list of a team."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from reports.models import Note, Team
from reports.pages.compare_frame import chosen_words
from reports.pages.parts import Crumb, Empty, Pager, settings_crumbs
from reports.selectors.note_list import NoteRow, list_notes

STATES: Mapping[str, str] = dict(Note.State.choices)


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A note in the list. ``standing`` says what it matches now; ``tone`` colours it where a reader should act.

    ``covers`` says what of a scenario variant it covers, "" for a note on a failure.
    """

    pk: int
    about: str
    chosen: str
    kind: str
    covers: str
    target_id: str
    target_href: str
    state: str
    owner: str
    text: str
    link: str
    versions: str
    expires: str
    standing: str
    tone: str
    is_done: bool
    href: str
    matches_href: str
    at: datetime


@dataclass(frozen=True, slots=True)
class NoteListPage:
    crumbs: tuple[Crumb, ...]
    sentence: str
    lines: tuple[NoteLine, ...]
    is_closed: bool
    may_write: bool
    pager: Pager
    empty: Empty


def note_list_page(*, team: Team, is_closed: bool, before: int | None, may_write: bool) -> NoteListPage:
    rows, has_more = list_notes(team=team, is_closed=is_closed, before=before)
    lines = tuple(_line(row) for row in rows)
    return NoteListPage(
        crumbs=settings_crumbs(team.name, *_crumbs(is_closed)),
        sentence=_sentence(lines, is_closed=is_closed, has_more=has_more),
        lines=lines,
        is_closed=is_closed,
        may_write=may_write and not is_closed,
        pager=Pager(
            text=f"{len(lines):,} note{'' if len(lines) == 1 else 's'} shown",
            first_href=_list_href(is_closed) if before is not None else "",
            next_href=_list_href(is_closed, before=str(lines[-1].pk)) if has_more else "",
        ),
        empty=Empty(
            f"There are no {'closed' if is_closed else 'open'} notes",
            "Write one beside a failure on a run’s page, or beside a row of a comparison.",
        ),
    )


def _crumbs(is_closed: bool) -> tuple[Crumb, ...]:
    return (Crumb("Notes", reverse("notes")), Crumb("Closed")) if is_closed else (Crumb("Notes"),)


def _list_href(is_closed: bool, **members: str) -> str:
    query = ({"state": "closed"} if is_closed else {}) | members
    return f"{reverse('notes')}?{urlencode(query)}" if query else reverse("notes")


def _sentence(lines: tuple[NoteLine, ...], *, is_closed: bool, has_more: bool) -> str:
    number = f"{len(lines):,}{' or more' if has_more else ''} {'closed' if is_closed else 'open'} notes"
    if len(lines) == 1:
        number = f"1 {'closed' if is_closed else 'open'} note"
    done = sum(line.is_done for line in lines)
    differently = sum(line.tone == "failed" for line in lines)
    said = [f"{done:,} can be closed"] if done else []
    said += [f"{differently:,} fail differently or still fail"] if differently else []
    return f"{number}: {', '.join(said)}." if said else f"{number}."


def _line(row: NoteRow) -> NoteLine:
    standing, tone = _standing(row)
    key = {"signature": row.signature_key} if row.signature_key else {"variant": row.variant_key}
    run = reverse("run", args=[row.newest_run]) if row.newest_run else ""
    return NoteLine(
        pk=row.pk,
        about=row.about,
        chosen=chosen_words(row.chosen),
        kind="failure" if row.signature_key else "scenario variant",
        covers="" if row.signature_key else _covers(row),
        target_id=row.target_id,
        target_href=reverse("target", args=[row.target]),
        state=STATES[row.state],
        owner=row.owner,
        text=row.text,
        link=row.link,
        versions=_versions(*row.versions),
        expires=row.expires_on.isoformat() if row.expires_on else "",
        standing=standing,
        tone=tone,
        is_done=row.is_done,
        href=reverse("note", args=[row.pk]),
        matches_href=f"{run}?{urlencode(key)}#cases" if run else "",
        at=row.updated_at,
    )


def _covers(row: NoteRow) -> str:
    if row.every_failure:
        return "covers every failure"
    known = [*row.known.values(), *(["not decided"] if row.knows_undecided else [])]
    return f"covers {', '.join(known)}" if known else "covers no failure"


def _standing(row: NoteRow) -> tuple[str, str]:
    if row.closed_at is not None:
        return "closed", ""
    if row.is_expired:
        return "expired", "blocked"
    if row.matches.otherwise:
        return "fails differently now", "failed"
    if row.matches.known:
        cases = f"{row.matches.known:,} failing case{'' if row.matches.known == 1 else 's'}"
        is_unfixed = row.state == Note.State.FIXED_VERIFY
        return (f"still fails: {cases}", "failed") if is_unfixed else (cases, "")
    return ("matches nothing any more", "passed") if row.is_done else ("not run lately", "")


def _versions(first: str, last: str) -> str:
    if first and last:
        return f"{first} to {last}"
    return f"from {first}" if first else f"up to {last}" if last else "all versions"


def new_note_href(
    *, target: int, run: object = "", version: int = 0, variant: str = "", signature: str = "", following: str = ""
) -> str:
    """Return the address of the form for a scenario variant or a signature, from which ``following`` leads back.

    ``run`` or ``version`` is where the reader comes from: what fails there is what the note covers.
    """
    members = {"target": str(target), "run": str(run), "version": str(version or "")}
    members |= {"variant": variant, "signature": signature, "next": following}
    return f"{reverse('new-note')}?{urlencode({name: value for name, value in members.items() if value})}"
