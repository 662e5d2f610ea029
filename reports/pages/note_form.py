"""The form of one note, beside a scenario variant or a failure signature: what it would cover stands in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from reports.models import Note, Team
from reports.pages.compare_frame import chosen_words
from reports.pages.notes import STATES
from reports.pages.parts import Crumb, settings_crumbs
from reports.selectors.note_list import (
    About,
    NoteRow,
    about_variant_pk,
    member_names,
    newest_version_names,
)
from reports.selectors.note_scope import NamedVariant, Seen, Source, failing_so, named_failures, seen_in
from reports.services.notes import MOST_AT_ONCE

_NAMED = 12  # scenario variants named before the rest is counted


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    text: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """What a note covers: ``lead`` says it, ``covers`` names failures (stored form).

    ``learn`` names what it can be told to cover, too, "" for nothing. ``may_every``: it can be told to cover every
    failure, and ``is_every`` that it does.
    """

    lead: str
    covers: tuple[str, ...] = ()
    learn: tuple[str, ...] = ()
    may_every: bool = False
    is_every: bool = False


@dataclass(frozen=True, slots=True)
class KeptNote:
    """A scenario variant that has a note already, which stays as it is."""

    about: str
    href: str


@dataclass(frozen=True, slots=True)
class Each:
    """One note for each scenario variant of a cluster instead of one on its failure: what it means, what stays."""

    words: str
    kept_words: str
    kept: tuple[KeptNote, ...]
    kept_more: int


@dataclass(frozen=True, slots=True)
class NotePage:
    """The form of one note. ``existing_href`` leads to the open note that is in the way, "" for none.

    ``opened_at`` is the moment of the change that the form shows.
    """

    title: str
    crumbs: tuple[Crumb, ...]
    about: str
    chosen: str
    kind: str
    target_id: str
    states: tuple[Option, ...]
    owners: tuple[Option, ...]
    first_versions: tuple[Option, ...]
    last_versions: tuple[Option, ...]
    text: str
    link: str
    expires_on: str
    scope: Scope
    each: Each | None
    close_pk: int
    opened_at: str
    existing_href: str
    next: str
    faults: tuple[str, ...]


def note_page(
    about: About,
    *,
    team: Team,
    given: Mapping[str, Any],
    following: str,
    source: Source | None,
    row: NoteRow | None = None,
    faults: tuple[str, ...] = (),
) -> NotePage:
    """Decide the form; ``given`` holds what was typed, or what the open note ``row`` says."""
    versions = newest_version_names(target=about.target)
    return NotePage(
        title="Change a note" if row else "Write a note",
        crumbs=settings_crumbs(team.name, Crumb("Notes", reverse("notes")), Crumb(about.words)),
        about=about.words,
        chosen=chosen_words(about.chosen),
        kind="Failure" if about.kind == "signature" else "Scenario variant",
        target_id=about.target_id,
        states=_options(tuple(STATES.items()), given.get("state") or Note.State.INVESTIGATING),
        owners=_options((("", "nobody"), *((name, name) for name in member_names(team=team))), given.get("owner")),
        first_versions=_version_options("the first", versions, given.get("first_version")),
        last_versions=_version_options("no end", versions, given.get("last_version")),
        text=str(given.get("text") or ""),
        link=str(given.get("link") or ""),
        expires_on=str(given.get("expires_on") or ""),
        scope=_scope(about, team, source, row, is_every=bool(given.get("every_failure"))),
        each=None if row else _each(about, team, source),
        close_pk=row.pk if row else 0,
        opened_at=row.updated_at.isoformat() if row else "",
        existing_href=reverse("note", args=[about.open_note]) if about.open_note and not row else "",
        next=following,
        faults=faults,
    )


# --------------------------------------------------------------------------------------------------------------- scope


def _scope(about: About, team: Team, source: Source | None, row: NoteRow | None, *, is_every: bool) -> Scope:
    if about.kind == "signature":
        return Scope("It covers this failure in every scenario variant of the target.")
    pk = about_variant_pk(team=team, key=about.key)
    seen = seen_in(source, [pk]).get(pk, Seen()) if source else Seen()
    named = dict(named_failures(seen.known).values())
    where = f"in the {source.words} that you come from" if source else ""
    if row is None:
        return Scope(_lead(named, seen.is_undecided, where), tuple(named.values()), may_every=True, is_every=is_every)
    learn = [words for key, words in named.items() if key not in row.known]
    if seen.is_undecided and not row.knows_undecided:
        learn.append(f"that it is not decided {where}")
    lead = _lead(row.known, row.knows_undecided, "where the note was written")
    return Scope(lead, tuple(row.known.values()), tuple(learn), may_every=True, is_every=is_every)


def _lead(known: Mapping[str, str], is_undecided: bool, where: str) -> str:
    if known:
        return f"It covers how this scenario variant fails {where}:"
    if is_undecided:
        return f"It covers that this scenario variant is not decided {where}, and no failure."
    place = f"Nothing of this scenario variant fails {where}: it" if where else "It"
    return f"{place} covers no failure unless you choose that below."


def _each(about: About, team: Team, source: Source | None) -> Each | None:
    if about.kind != "signature" or source is None:
        return None
    found = failing_so(team=team, source=source, signature=about.key, most=MOST_AT_ONCE + 1)
    kept = [each for each in found if each.note is not None]
    number = f"more than {MOST_AT_ONCE}" if len(found) > MOST_AT_ONCE else f"{len(found):,}"
    which = (
        f"for each of the {number} scenario variants that fail"
        if len(found) > 1
        else "on the scenario variant that fails"
    )
    return Each(
        words=f"One note {which} so in this {source.words}, instead of one on the failure",
        kept_words=kept_in_words(kept),
        kept=tuple(KeptNote(_name(each), reverse("note", args=[each.note])) for each in kept[:_NAMED]),
        kept_more=max(0, len(kept) - _NAMED),
    )


def _name(variant: NamedVariant) -> str:
    chosen = chosen_words(variant.chosen)
    return f"{variant.scenario_id} ({chosen})" if chosen else variant.scenario_id


def kept_in_words(kept: Sequence[NamedVariant]) -> str:
    if not kept:
        return ""
    return (
        "1 has a note already, which stays as it is"
        if len(kept) == 1
        else (f"{len(kept):,} have a note already, which stays as it is")
    )


def noted_in_words(written: int, kept: Sequence[NamedVariant]) -> str:
    """Say what a bulk action did: how many notes it wrote and which scenario variants keep theirs (stored form)."""
    said = f"{written:,} note{'' if written == 1 else 's'} written" if written else "No note was written"
    if not kept:
        return f"{said}."
    more = f" and {len(kept) - _NAMED:,} more" if len(kept) > _NAMED else ""
    return f"{said}; {kept_in_words(kept)}: {', '.join(_name(each) for each in kept[:_NAMED])}{more}."


# ------------------------------------------------------------------------------------------------------------- options


def _options(pairs: tuple[tuple[str, str], ...], chosen: object) -> tuple[Option, ...]:
    return tuple(Option(value, text, value == str(chosen or "")) for value, text in pairs)


def _version_options(none: str, versions: tuple[tuple[int, str], ...], chosen: object) -> tuple[Option, ...]:
    return _options((("", none), *((str(pk), name) for pk, name in versions)), chosen)
