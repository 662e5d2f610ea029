"""The list of suites and the page of one: revisions, definition, what changed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from reports.domain.definition_changes import MemberChange, member_changes
from reports.domain.definition_text import AskLine, ScenarioText, StepText, ask_lines, scenario_text
from reports.domain.run_query import RunQuery
from reports.domain.wording import counted
from reports.models import Team
from reports.pages.parts import Action, Crumb, Empty, OutsideText, Pager
from reports.pages.runs import runs_href
from reports.selectors.suites import (
    SCENARIOS_A_PAGE,
    RevisionRow,
    ScenarioChange,
    ScenarioRow,
    SuiteHead,
    find_suite,
    list_revisions,
    list_scenarios,
    list_suites,
    read_definition,
    scenario_changes,
    suite_head_of,
)

_OPEN_UP_TO = 3  # scenarios of a small suite that stand open
_MOST_LISTED_CHANGES = 60
_KIND_WORDS = {
    "added": ("added", "added"),
    "removed": ("removed", "removed"),
    "redefined": ("worse", "redefined: results of the two revisions do not compare"),
    "reworded": ("steady", "reworded: results still compare"),
}


@dataclass(frozen=True, slots=True)
class SuiteLine:
    href: str
    suite_id: str
    name: str
    revisions: int
    scenarios: int
    runs: int
    runs_href: str
    last_run_at: datetime | None


@dataclass(frozen=True, slots=True)
class SuiteListPage:
    sentence: str
    lines: tuple[SuiteLine, ...]
    pager: Pager
    empty: Empty


@dataclass(frozen=True, slots=True)
class RevisionLine:
    """``against_href`` compares it with the shown revision; empty for the shown one."""

    digest: str
    href: str
    is_shown: bool
    scenarios: int
    created_at: datetime
    runs: int
    last_run_at: datetime | None
    against_href: str


@dataclass(frozen=True, slots=True)
class ShownInput:
    variant: str
    outside: OutsideText


@dataclass(frozen=True, slots=True)
class ShownStep:
    step: StepText
    inputs: tuple[ShownInput, ...]


@dataclass(frozen=True, slots=True)
class ShownScenario:
    """``words`` sums it up for the fold's head."""

    anchor: str
    scenario: ScenarioText
    steps: tuple[ShownStep, ...]
    words: str
    description: OutsideText | None
    metadata: OutsideText | None
    is_open: bool


@dataclass(frozen=True, slots=True)
class ChangedScenario:
    symbol: str
    scenario_id: str
    words: str
    members: tuple[MemberChange, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed from an earlier revision to the shown one."""

    sentence: str
    before_digest: str
    scenarios: tuple[ChangedScenario, ...]
    more: int


@dataclass(frozen=True, slots=True)
class SuitePage:
    suite_id: str
    name: str
    sentence: str
    crumbs: tuple[Crumb, ...]
    runs_href: str
    revisions: tuple[RevisionLine, ...]
    shown_digest: str
    json_href: str
    changes: Changes | None
    scenarios: tuple[ShownScenario, ...]
    scenarios_text: str
    pager: Pager
    asked: tuple[AskLine, ...]
    metadata: OutsideText | None


def suite_list_page(*, team: Team, after: int, may_run: bool) -> SuiteListPage:
    """Read and decide all that the list of suites shows."""
    rows, following = list_suites(team=team, after=after)
    number = f"{len(rows)} suite{'' if len(rows) == 1 else 's'}"
    action = Action("Import a report", reverse("import"), "upload")
    return SuiteListPage(
        sentence=f"{number}{' on this page' if after or following else ''}, the newest first."
        if rows
        else "No suites yet.",
        lines=tuple(
            SuiteLine(
                href=reverse("suite", args=[row.pk]),
                suite_id=row.suite_id,
                name=row.name,
                revisions=row.revisions,
                scenarios=row.scenarios,
                runs=row.runs,
                runs_href=runs_href(RunQuery({"suite": (row.suite_id,)})),
                last_run_at=row.last_run_at,
            )
            for row in rows
        ),
        pager=Pager(
            number,
            first_href=reverse("suites") if after else "",
            next_href=f"{reverse('suites')}?{urlencode({'after': following})}" if following else "",
            next_text="More suites",
        ),
        empty=Empty(
            "There are no suites yet", "A suite comes with the first report that used it.", (action,) * may_run
        ),
    )


def suite_page(*, team: Team, pk: int, revision: int, against: int, start: int) -> SuitePage | None:
    """Read and decide the page of a suite; None where the team has no such suite or the suite no such revision.

    ``revision`` and ``against`` are keys of revisions, 0 for the newest one and for the one before the shown.
    """
    suite = find_suite(team=team, pk=pk)
    revisions = list_revisions(suite) if suite else ()
    shown = next((row for row in revisions if not revision or row.pk == revision), None)
    if suite is None or shown is None:
        return None
    before = _before(revisions, shown, against)
    head = suite_head_of(revision_pk=shown.pk)
    found = list_scenarios(revision_pk=shown.pk, start=start)
    return SuitePage(
        suite_id=suite.suite_id,
        name=suite.name,
        sentence=_sentence(shown, revisions),
        crumbs=(Crumb("Suites", reverse("suites")), Crumb(f"{suite.suite_id} · {shown.digest[:12]}")),
        runs_href=runs_href(RunQuery({"suite": (suite.suite_id,)})),
        revisions=tuple(_revision_line(suite, row, shown) for row in revisions),
        shown_digest=shown.digest,
        json_href=reverse("suite-definition", args=[suite.pk, shown.pk]),
        changes=_changes(before, shown) if before else None,
        scenarios=tuple(_shown(row, is_small=shown.scenarios <= _OPEN_UP_TO) for row in found),
        scenarios_text=_range(found, shown.scenarios),
        pager=_scenario_pager(suite, shown, start),
        asked=ask_lines(head.get("assertions") or ()),
        metadata=_json_text(head.get("metadata"), "metadata"),
    )


def definition_json(*, team: Team, pk: int, revision: int) -> bytes | None:
    """Return a revision's definition as indented JSON; None where there is none."""
    suite = find_suite(team=team, pk=pk)
    found = read_definition(suite=suite, revision_pk=revision) if suite else None
    return None if found is None else json.dumps(json.loads(found), indent=2).encode("ascii")


def _before(revisions: tuple[RevisionRow, ...], shown: RevisionRow, against: int) -> RevisionRow | None:
    if against:
        return next((row for row in revisions if row.pk == against and row.pk != shown.pk), None)
    return next((row for row in revisions if row.pk < shown.pk), None)


def _sentence(shown: RevisionRow, revisions: tuple[RevisionRow, ...]) -> str:
    scenarios = f"{shown.scenarios:,} scenario{'' if shown.scenarios == 1 else 's'}"
    which = "the newest of" if shown.pk == revisions[0].pk else "one of"
    several = f"{which} {len(revisions)} revisions" if len(revisions) > 1 else "the only revision"
    return f"{scenarios} in {several}; {shown.runs:,} run{'' if shown.runs == 1 else 's'} of it."


def _revision_line(suite: SuiteHead, row: RevisionRow, shown: RevisionRow) -> RevisionLine:
    return RevisionLine(
        digest=row.digest,
        href=_suite_href(suite, {"revision": row.pk}),
        is_shown=row.pk == shown.pk,
        scenarios=row.scenarios,
        created_at=row.created_at,
        runs=row.runs,
        last_run_at=row.last_run_at,
        against_href=""
        if row.pk == shown.pk
        else _suite_href(suite, {"revision": shown.pk, "against": row.pk}, "changes"),
    )


def _suite_href(suite: SuiteHead, members: Mapping[str, int], anchor: str = "") -> str:
    return f"{reverse('suite', args=[suite.pk])}?{urlencode(members)}{'#' if anchor else ''}{anchor}"


def _changes(before: RevisionRow, shown: RevisionRow) -> Changes:
    found = scenario_changes(before_pk=before.pk, after_pk=shown.pk)
    numbers = {kind: sum(change.kind == kind for change in found) for kind in _KIND_WORDS}
    named = ", ".join(f"{number:,} {kind}" for kind, number in numbers.items() if number)
    same = shown.scenarios - (len(found) - numbers["removed"])
    nothing = "No scenario was added, removed or redefined; only descriptions, metadata or suite assertions differ."
    return Changes(
        sentence=f"{named}; {same:,} the same." if found else nothing,
        before_digest=before.digest,
        scenarios=tuple(_changed(change) for change in found[:_MOST_LISTED_CHANGES]),
        more=max(0, len(found) - _MOST_LISTED_CHANGES),
    )


def _changed(change: ScenarioChange) -> ChangedScenario:
    symbol, words = _KIND_WORDS[change.kind]
    both = change.before is not None and change.after is not None
    return ChangedScenario(
        symbol, change.scenario_id, words, member_changes(change.before, change.after) if both else ()
    )


def _shown(row: ScenarioRow, *, is_small: bool) -> ShownScenario:
    text = scenario_text(row.definition)
    variants = sum(len(step.inputs) for step in text.steps if step.inputs[0].variant)
    words = counted(len(text.steps), "step")
    return ShownScenario(
        anchor=f"scenario-{row.position}",
        scenario=text,
        steps=tuple(
            ShownStep(
                step, tuple(ShownInput(each.variant, OutsideText.of(each.text, label="input")) for each in step.inputs)
            )
            for step in text.steps
        ),
        words=f"{words}, {counted(variants, 'variant')}" if variants else words,
        description=OutsideText.of(text.description, label="description") if text.description else None,
        metadata=OutsideText.of(text.metadata, label="metadata") if text.metadata else None,
        is_open=is_small,
    )


def _json_text(value: object, label: str) -> OutsideText | None:
    return OutsideText.of(json.dumps(value, indent=2, ensure_ascii=False), label=label) if value else None


def _range(found: tuple[ScenarioRow, ...], total: int) -> str:
    if not found or len(found) == total:
        return f"{total:,}"
    return f"{found[0].position + 1:,}–{found[-1].position + 1:,} of {total:,}"


def _scenario_pager(suite: SuiteHead, shown: RevisionRow, start: int) -> Pager:
    following = start + SCENARIOS_A_PAGE
    has_more = following < shown.scenarios
    return Pager(
        text=counted(shown.scenarios, "scenario"),
        first_href=_suite_href(suite, {"revision": shown.pk}, "scenarios") if start else "",
        next_href=_suite_href(suite, {"revision": shown.pk, "start": following}, "scenarios") if has_more else "",
        next_text="More scenarios",
    )
