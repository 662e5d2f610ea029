"""The form that starts a run, and beside it what will run."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.urls import reverse
from evalrunner.models import EvaluationSuite

from reports.domain.pacing import estimate_words, planned_cases
from reports.domain.run_draft import RunDraft
from reports.domain.run_options import NUMBERS, Refusal, RequestRefused, RunOptions, RunPlan
from reports.domain.wording import counted
from reports.keys import text_key
from reports.models import Team
from reports.pages.new_run_choices import Option, OptionGroup, scenario_options, tag_options
from reports.pages.new_run_harness import FIELDS as HARNESS_FIELDS
from reports.pages.new_run_harness import HarnessFields, harness_fields
from reports.runnable import TargetEntry, TargetsFileError, TargetUnusable, runnable_targets
from reports.runnable.entries import FingerprintSource
from reports.selectors import new_run as selector
from reports.selectors.pacing import earlier_durations
from reports.services.executions import RunRequest, check_request, limits_of
from reports.services.new_run import options_for
from reports.services.run_suites import find_suite, is_offered, offered_suite, parsed_suite
from reports.text import storable


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one field: the code of the runner or the site, a sentence, and places."""

    code: str
    sentence: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NumberField:
    name: str
    label: str
    help: str
    value: str
    most: int
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class FingerprintField:
    """``kind``: a choice among ``options``, "asked" in words, or "found" by the site, as ``help`` says."""

    kind: str
    options: tuple[Option, ...]
    value: str
    help: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What will run. ``words`` is empty while something is wrong, which ``problem`` then says."""

    words: str
    problem: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    estimate: str


@dataclass(frozen=True, slots=True)
class NewRunPage:
    """``unusable`` holds what is wrong with the targets file; then there is no form.

    ``started_href`` leads to the run that the form had started before it was changed and sent again.
    ``has_other_choices``: scenarios, tags and versions to choose from are not those that the reader was shown.
    """

    draft: RunDraft
    unusable: tuple[str, ...]
    rerun_note: str
    started_href: str
    targets: tuple[Option, ...]
    target_help: str
    fingerprint: FingerprintField
    suites: tuple[OptionGroup, ...]
    scenarios: tuple[Option, ...]
    scenarios_typed: str
    tags: tuple[Option, ...]
    numbers: tuple[NumberField, ...]
    more_numbers: tuple[NumberField, ...]
    is_more_open: bool
    may_write: bool
    write_help: str
    plan: Plan
    faults: Mapping[str, tuple[Fault, ...]]
    other_faults: tuple[Fault, ...]
    summary: str
    shown: str
    has_other_choices: bool
    harness: HarnessFields | None

    @property
    def all_numbers(self) -> tuple[NumberField, ...]:
        return self.numbers + self.more_numbers

    @property
    def field_faults(self) -> tuple[tuple[str, tuple[Fault, ...]], ...]:
        """Every field's faults, those of fields without any included: they may have had some before."""
        fields = (*_FIELDS, *HARNESS_FIELDS) if self.harness is not None else _FIELDS
        return tuple((name, self.faults.get(name, ())) for name in fields)


_FIELDS = ("target", "fingerprint", "suite", "scenarios", "tags", *NUMBERS, "allow_external_writes")
_LABELS = {
    "repetitions": ("Repetitions", "How often each scenario variant is held: models differ from time to time."),
    "concurrency": ("Concurrency", "How many conversations go on at once, in each shard."),
    "shards": ("Shards", "Over how many workers the cases are spread; each holds conversations of its own."),
    "max_failures": ("Stop after failures", "No further case begins once so many have failed or ended in error."),
    "timeout_ms": ("Time limit a turn (ms)", "A turn that takes longer ends in an error."),
    "max_cases": ("At most cases", "A guard against asking for far more than was meant."),
}
_OF_ROWS = {
    "shards": ("Shards", "Rows share a workspace: their run is not split."),
    "timeout_ms": ("Time limit a row (ms)", "A row that takes longer, with all of its messages, ends in an error."),
}
_UNITS_OPEN = ("repetitions", "concurrency")


def new_run_page(
    team: Team,
    draft: RunDraft,
    *,
    is_admin: bool,
    refusals: Sequence[Refusal] = (),
    rerun_note: str = "",
    started: uuid.UUID | None = None,
) -> NewRunPage:
    """Decide all that the form shows. ``refusals`` are those of a request that was made; without, what will be.

    ``started`` is the run that this form, with other choices, has started before.
    """
    try:
        entries = runnable_targets()
    except TargetsFileError as error:
        return _without_targets(draft, tuple(map(str, error.faults)))
    entry = next((each for each in entries if each.name == draft.target), entries[0])
    was_made = bool(refusals)
    has_other_choices = draft.shown != _shown_for(draft)
    draft = _with_defaults(team, entry, draft)
    suite, plan, found = _look_ahead(team, entry, draft, is_admin=is_admin)
    asked = tuple(refusals) if was_made else tuple(found)
    faults = _by_field(asked)
    numbers = {name: _number_field(draft, entry, name, faults) for name in NUMBERS}
    may_write = is_admin and entry.allows_external_writes
    return NewRunPage(
        draft=draft,
        unusable=(),
        rerun_note=rerun_note,
        started_href=reverse("run", args=[started]) if started else "",
        targets=tuple(Option(each.name, each.title, each is entry) for each in entries),
        target_help=f"Reported as {entry.target_id}.",
        fingerprint=_fingerprint_field(entry, draft, faults),
        suites=_suite_groups(team, entry, draft),
        scenarios=scenario_options(suite, draft),
        scenarios_typed="\n".join(draft.scenarios),
        tags=tag_options(suite, draft),
        numbers=tuple(numbers[name] for name in _UNITS_OPEN),
        more_numbers=tuple(field for name, field in numbers.items() if name not in _UNITS_OPEN),
        is_more_open=any(field.faults for name, field in numbers.items() if name not in _UNITS_OPEN),
        may_write=may_write,
        write_help=_write_help(entry, is_admin),
        plan=_plan(team, entry, draft, suite, plan, found),
        faults={name: faults.get(name, ()) for name in (*_FIELDS, *HARNESS_FIELDS)},
        other_faults=faults.get("", ()),
        summary=_summary(asked) if was_made else "",
        shown=_shown_for(draft),
        has_other_choices=has_other_choices,
        harness=harness_fields(entry, suite, draft.harness, faults, is_offered=is_offered(draft.suite)),
    )


def _shown_for(draft: RunDraft) -> str:
    """Name the target and suite that a form's choices belong to."""
    return f"{draft.target}|{draft.suite}"


def _with_defaults(team: Team, entry: TargetEntry, draft: RunDraft) -> RunDraft:
    """Choose what nobody has chosen: the target's first suite, else the newest stored one that it can run.

    What was chosen for another target or suite is let go: a version, a suite of another kind, scenarios and tags.
    """
    draft = replace(draft, target=entry.name)
    if draft.is_for_another_target:
        draft = replace(draft, fingerprint="")
    if not draft.suite or (draft.is_for_another_target and not _fits_still(team, entry, draft)):
        stored = _fitting_revisions(team, entry)
        first = f"revision:{stored[0].pk}" if stored else ""
        draft = replace(draft, suite="offered:0" if entry.suites else first)
    if draft.has_picks_of_another_suite:
        draft = replace(draft, scenarios=(), tags=())
    return draft


def _fits_still(team: Team, entry: TargetEntry, draft: RunDraft) -> bool:
    """Tell whether a suite that was chosen for another target can be run with this one."""
    if is_offered(draft.suite):  # by its place, which means another file of another target
        return False
    row = _chosen_revision(team, draft)
    return row is None or row.holds_rows == (entry.kind == "harness")


def _chosen_revision(team: Team, draft: RunDraft) -> selector.RevisionRow | None:
    place = draft.suite.removeprefix("revision:")
    is_number = place.isascii() and place.isdigit() and len(place) < 18
    return selector.get_revision_row(team, int(place)) if is_number else None


def _fitting_revisions(team: Team, entry: TargetEntry) -> Sequence[selector.RevisionRow]:
    return selector.list_revisions(team, holding_rows=entry.kind == "harness")


def _look_ahead(
    team: Team, entry: TargetEntry, draft: RunDraft, *, is_admin: bool
) -> tuple[EvaluationSuite | None, RunPlan | None, list[Refusal]]:
    """Return the chosen suite, what will run, and what speaks against it."""
    options, refusals = options_for(entry, draft)
    try:
        suite = parsed_suite(find_suite(team, entry, draft.suite))
    except RequestRefused as refused:
        return None, None, [*refusals, *refused.refusals]
    request = RunRequest(entry.name, draft.fingerprint, suite, options)
    try:
        plan = check_request(entry, request, may_authorise_writes=is_admin)
    except RequestRefused as refused:
        return suite, None, [*refusals, *refused.refusals]
    return suite, None if refusals else plan, refusals


# -------------------------------------------------------------------------------------------------------------- fields


def _by_field(refusals: Sequence[Refusal]) -> dict[str, tuple[Fault, ...]]:
    faults: dict[str, tuple[Fault, ...]] = {}
    for refusal in refusals:
        fault = Fault(refusal.code, refusal.sentence, tuple(map(storable, refusal.paths)))
        faults[refusal.field] = (*faults.get(refusal.field, ()), fault)
    return faults


def _number_field(draft: RunDraft, entry: TargetEntry, name: str, faults: dict[str, tuple[Fault, ...]]) -> NumberField:
    is_of_rows = entry.kind == "harness"
    label, help = (_OF_ROWS if is_of_rows else _LABELS).get(name, _LABELS[name])
    most = 1 if is_of_rows and name == "shards" else getattr(limits_of(entry), name, NUMBERS[name])
    words = f"{help} 1 to {most:,}."
    return NumberField(name, label, words, draft.number(name), most, faults.get(name, ()))


def _fingerprint_field(entry: TargetEntry, draft: RunDraft, faults: dict[str, tuple[Fault, ...]]) -> FingerprintField:
    try:
        source = entry.fingerprint_source()
    except TargetUnusable as error:
        faults["target"] = (*faults.get("target", ()), Fault("TARGET_UNUSABLE", f"It cannot be run: {error}.", ()))
        return FingerprintField("found", (), "", "The versions of this target cannot be listed.")
    if source.kind == "fixed":
        chosen = draft.fingerprint if draft.fingerprint in source.values else source.values[0]
        options = tuple(Option(value, storable(value), value == chosen) for value in source.values)
        return FingerprintField("fixed", options, chosen, "The exact version that is evaluated.")
    if source.kind == "asked":
        help = "The exact version that is evaluated, for instance its commit. Runs are compared by it."
        return FingerprintField("asked", (), draft.fingerprint, help)
    return FingerprintField("found", (), "", _found_words(source))


def _found_words(source: FingerprintSource) -> str:
    if source.kind == "env":
        return f"Read from the environment variable {source.variable} when the run is asked for."
    return f"Found by the program {source.command[0]} when the run is asked for."


def _suite_groups(team: Team, entry: TargetEntry, draft: RunDraft) -> tuple[OptionGroup, ...]:
    """Offer what the target can run, and what is chosen in any case: what is shown must be what is sent."""
    offered = tuple(_offered_option(entry, place, draft) for place in range(len(entry.suites)))
    rows = list(_fitting_revisions(team, entry))
    if draft.suite.startswith("revision:") and not any(draft.suite == f"revision:{row.pk}" for row in rows):
        chosen = _chosen_revision(team, draft)
        rows += [chosen] if chosen is not None else []
    stored = tuple(
        Option(
            f"revision:{row.pk}",
            f"{row.name} · {row.digest[:8]} · {counted(row.scenario_count, 'scenario')} · {row.created_at:%Y-%m-%d}",
            draft.suite == f"revision:{row.pk}",
        )
        for row in rows
    )
    groups = (OptionGroup("Offered by this target", offered), OptionGroup("Stored revisions, newest first", stored))
    return tuple(group for group in groups if group.options)


def _offered_option(entry: TargetEntry, place: int, draft: RunDraft) -> Option:
    try:
        suite = offered_suite(entry, place)
        text = f"{storable(suite.name)} · {counted(len(suite.scenarios), 'scenario')}"
    except RequestRefused:
        text = f"{entry.suites[place].name} (cannot be used)"
    return Option(f"offered:{place}", text, draft.suite == f"offered:{place}")


def _write_help(entry: TargetEntry, is_admin: bool) -> str:
    if not entry.allows_external_writes:
        return "This target is registered without external writes; scenarios that write outside end blocked."
    if not is_admin:
        return "Only an admin of the team may authorise them; without, scenarios that write outside end blocked."
    return "Scenarios that write outside really do so. Left out, they end blocked."


# ---------------------------------------------------------------------------------------------------------------- plan


def _plan(
    team: Team,
    entry: TargetEntry,
    draft: RunDraft,
    suite: EvaluationSuite | None,
    plan: RunPlan | None,
    found: Sequence[Refusal],
) -> Plan:
    if plan is None or suite is None:
        return Plan("", found[0].sentence if found else "Choose a suite.", (), (), "")
    options, _ = draft.options()
    warnings = []
    if plan.external:
        count = len(plan.external)
        scenarios = f"{count} scenario{' writes' if count == 1 else 's write'} outside"
        ending = "and may really do so" if options.allow_external_writes else "and will end blocked"
        warnings.append(f"{scenarios} {ending}.")
    notes = []
    if plan.skipped:
        notes.append(f"{len(plan.skipped)} of the scenarios only leave the reason why they are skipped.")
    return Plan(plan.words, "", tuple(notes), tuple(warnings), _estimate(team, entry, suite, options))


def _estimate(team: Team, entry: TargetEntry, suite: EvaluationSuite, options: RunOptions) -> str:
    earlier = earlier_durations(team_pk=team.pk, target_key=text_key(entry.target_id), suite_key=text_key(suite.id))
    return estimate_words(planned_cases(suite, options), earlier, lanes=options.lanes)


def _summary(refusals: Sequence[Refusal]) -> str:
    count = len(refusals)
    return f"The run was not started: {count} {'thing has' if count == 1 else 'things have'} to be mended first."


def _without_targets(draft: RunDraft, faults: tuple[str, ...]) -> NewRunPage:
    return NewRunPage(
        draft=draft,
        unusable=faults,
        rerun_note="",
        started_href="",
        targets=(),
        target_help="",
        fingerprint=FingerprintField("found", (), "", ""),
        suites=(),
        scenarios=(),
        scenarios_typed="",
        tags=(),
        numbers=(),
        more_numbers=(),
        is_more_open=False,
        may_write=False,
        write_help="",
        plan=Plan("", "", (), (), ""),
        faults={},
        other_faults=(),
        summary="",
        shown="",
        has_other_choices=False,
        harness=None,
    )
