"""Reads for the page of one run: its head, its failures by signature, its cases, its timings."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.db.models import Case as When_
from django.db.models import Count, F, IntegerField, Min, Q, QuerySet, Sum, Value, When
from evalrunner.compare import DECIDED
from evalrunner.compare.outcomes import FAILING_STATUSES

from reports import payloads
from reports.models import CASE_STATUSES, Case, Execution, Run, Signature, Team, Turn
from reports.selectors.compare_rows import signature_words

CASES_A_PAGE = 50
CLUSTERS_SHOWN = 20
PIPS_SHOWN = 20
ORDERS = {
    "place": ("position",),
    "scenario": ("variant__scenario_id", "position"),
    "status": ("status", "position"),
    "turns": ("-turn_count", "position"),
    "duration": ("-duration_ms", "position"),
}
# Upper ends of the duration classes, milliseconds; the last class is open.
DURATION_EDGES = (100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000)


@dataclass(frozen=True, slots=True)
class CaseFilters:
    """What the cases table is narrowed to; every field's empty value asks for nothing.

    ``status`` is a case status, "failures" (failed and error) or "undecided"; ``signature`` a signature's key,
    ``variant`` a scenario variant's key; ``text`` is looked for in scenario ids, names and failing criteria, literally.
    ``tag`` and ``text`` are in stored form: an address can hold no other.
    """

    status: str = ""
    signature: str = ""
    variant: str = ""
    tag: str = ""
    text: str = ""
    order: str = "place"

    @property
    def is_narrow(self) -> bool:
        return bool(self.status or self.signature or self.variant or self.tag or self.text)

    def query(self) -> dict[str, str]:
        """Return the members that stand in an address."""
        named = {"status": self.status, "signature": self.signature, "variant": self.variant, "tag": self.tag}
        named |= {"q": self.text, "order": "" if self.order == "place" else self.order}
        return {name: value for name, value in named.items() if value}


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One line of the cases table."""

    position: int
    scenario_id: str
    name: str
    variants: Mapping[str, str]
    variant_id: int
    repetition: int
    status: str
    error_code: str
    skip_reason: str
    failing: str
    turn_count: int
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Pip:
    """One repetition of a scenario variant."""

    position: int
    repetition: int
    status: str


@dataclass(frozen=True, slots=True)
class CasesPage:
    """A page of cases. ``cursor`` opens the next page, None on the last one; ``found`` counts all that fit."""

    rows: tuple[CaseRow, ...]
    cursor: str | None
    found: int
    siblings: Mapping[int, tuple[Pip, ...]]


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cases of a run that failed in the same way. ``pk``, ``key`` and ``words`` are its signature's.

    ``first_failing`` says what failed in the first of them, with values that the others need not share.
    """

    pk: int
    key: str
    scope: str
    step_id: str
    assertions: tuple[Any, ...]
    error_code: str
    words: str
    cases: int
    variants: int
    first_position: int
    first_failing: str
    first_scenario: str


def get_run(*, team: Team, pk: uuid.UUID) -> Run | None:
    """Return a run of the team with its names and its head payload, or None."""
    runs = Run.objects.for_team(team).select_related("team", "version__target", "revision__suite", "created_by")
    return runs.defer("revision__definition").filter(pk=pk).first()


def suite_results(run: Run) -> Sequence[Mapping[str, Any]]:
    """Return the results of the suite's own assertions as the report holds them."""
    if not run.head:
        return ()
    results: Sequence[Mapping[str, Any]] = payloads.unpack(run.head).get("assertions") or ()
    return results


def suite_assertion_definitions(run: Run) -> Sequence[Mapping[str, Any]]:
    """Return the suite assertions of the run's definition; read only where there are results to explain."""
    definition = type(run.revision).objects.values_list("definition", flat=True).get(pk=run.revision_id)
    asked: Sequence[Mapping[str, Any]] = payloads.unpack(definition).get("assertions") or ()
    return asked


def execution_of(run: Run) -> Execution | None:
    return Execution.objects.filter(run=run).select_related("cancel_requested_by").first()


def cases_of(run: Run) -> QuerySet[Case]:
    """All cases of a run's current generation; none before its first checkpoint."""
    return Case.objects.filter(generation_id=run.generation_id) if run.generation_id else Case.objects.none()


def filtered_cases(run: Run, filters: CaseFilters) -> QuerySet[Case]:
    """The cases that fit the filters, in no order."""
    cases = cases_of(run)
    if filters.status == "failures":
        cases = cases.filter(status__in=FAILING_STATUSES)
    elif filters.status == "undecided":
        cases = cases.exclude(status__in=DECIDED)
    elif filters.status:
        cases = cases.filter(status=filters.status)
    if filters.signature:
        signature = Signature.objects.filter(team_id=run.team_id, key=filters.signature)
        cases = cases.filter(signature__in=signature)
    if filters.variant:
        cases = cases.filter(variant__key=filters.variant)
    if filters.tag:
        tagged = _scenario_keys_with_tag(run, filters.tag)
        cases = cases.filter(variant__scenario_key__in=tagged)
    if filters.text:
        names = Q(name__icontains=filters.text) | Q(variant__scenario_id__icontains=filters.text)
        cases = cases.filter(names | Q(failing__icontains=filters.text))
    return cases


def _scenario_keys_with_tag(run: Run, tag: str) -> list[str]:
    """Tags stand in JSON lists, which SQLite cannot look into through an index: a revision has few scenarios."""
    rows = run.revision.scenarios.values_list("key", "tags")
    return [key for key, tags in rows if tag in tags]


def list_cases(run: Run, filters: CaseFilters, *, cursor: str = "") -> CasesPage:
    """Return one page of the run's cases; an unreadable cursor starts at the beginning."""
    fitting = filtered_cases(run, filters)
    order = ORDERS[filters.order]
    rows = _after(fitting, order, cursor).order_by(*order)
    found = tuple(_case_row(row) for row in rows.values(*_ROW_COLUMNS)[: CASES_A_PAGE + 1])
    shown = found[:CASES_A_PAGE]
    following = _cursor_of(shown[-1], order) if len(found) > CASES_A_PAGE else None
    total = fitting.count() if filters.is_narrow else run.total
    return CasesPage(shown, following, total, _siblings(run, shown))


_ROW_COLUMNS = (
    "position",
    "variant__scenario_id",
    "variant__variants",
    "variant_id",
    "name",
    "repetition",
    "status",
    "error_code",
    "skip_reason",
    "failing",
    "turn_count",
    "duration_ms",
)


def _case_row(row: dict[str, Any]) -> CaseRow:
    names = {"variant__scenario_id": "scenario_id", "variant__variants": "variants"}
    return CaseRow(**{names.get(name, name): value for name, value in row.items()})


def _cursor_of(row: CaseRow, order: Sequence[str]) -> str:
    """A cursor is the place of the last row, behind the value it is ordered by where that is not the place itself."""
    first = order[0].removeprefix("-")
    if first == "position":
        return str(row.position)
    value = {"variant__scenario_id": row.scenario_id}.get(first) or getattr(row, first, "")
    return f"{row.position}~{value}"


def _after(cases: QuerySet[Case], order: Sequence[str], cursor: str) -> QuerySet[Case]:
    place, _, text = cursor.partition("~")
    if not (place.isascii() and place.isdigit() and len(place) < 10):
        return cases
    if order[0] == "position":
        return cases.filter(position__gt=int(place))
    first, is_falling = order[0].removeprefix("-"), order[0].startswith("-")
    value = _order_value(first, text)
    if value is None:
        return cases
    beyond = Q(**{f"{first}__{'lt' if is_falling else 'gt'}": value})
    return cases.filter(beyond | Q(**{first: value, "position__gt": int(place)}))


def _order_value(column: str, text: str) -> str | float | None:
    if column not in ("turn_count", "duration_ms"):
        return text
    try:
        return float(text)
    except ValueError:
        return None


def _siblings(run: Run, rows: Sequence[CaseRow]) -> dict[int, tuple[Pip, ...]]:
    """Read the repetitions of the shown scenario variants; a variant's pips stop at ``PIPS_SHOWN``."""
    repeated = {row.variant_id for row in rows}
    pips: dict[int, list[Pip]] = {variant: [] for variant in repeated}
    cases = cases_of(run).filter(variant_id__in=repeated).order_by("variant_id", "repetition", "position")
    for variant, position, repetition, status in cases.values_list("variant_id", "position", "repetition", "status"):
        if len(pips[variant]) < PIPS_SHOWN:
            pips[variant].append(Pip(position, repetition, status))
    return {variant: tuple(found) for variant, found in pips.items()}


def clusters(run: Run) -> tuple[tuple[Cluster, ...], int]:
    """Return the failures of a run by signature, most cases first, and how many signatures there are in all.

    A case that failed on its way and ended blocked or cancelled has a signature too, but it is undecided: no failure.
    """
    failing = cases_of(run).filter(status__in=FAILING_STATUSES, signature__isnull=False)
    by_signature = failing.values("signature_id").annotate(
        cases=Count("id"), variants=Count("variant_id", distinct=True), first_position=Min("position")
    )
    counted = list(by_signature.order_by("-cases", "first_position"))
    shown = counted[:CLUSTERS_SHOWN]
    signatures = Signature.objects.in_bulk([row["signature_id"] for row in shown])
    firsts = _first_cases(run, [row["first_position"] for row in shown])
    return tuple(_cluster(row, signatures[row["signature_id"]], firsts) for row in shown), len(counted)


def _first_cases(run: Run, positions: Sequence[int]) -> dict[int, tuple[str, str]]:
    cases = cases_of(run).filter(position__in=positions)
    rows = cases.values_list("position", "failing", "variant__scenario_id")
    return {position: (failing, scenario) for position, failing, scenario in rows}


def _cluster(row: Mapping[str, Any], signature: Signature, firsts: Mapping[int, tuple[str, str]]) -> Cluster:
    failing, scenario = firsts[row["first_position"]]
    return Cluster(
        pk=signature.pk,
        key=signature.key,
        scope=signature.scope,
        step_id=signature.step_id,
        assertions=tuple(signature.assertions),
        error_code=signature.error_code,
        words=signature_words(signature),
        cases=row["cases"],
        variants=row["variants"],
        first_position=row["first_position"],
        first_failing=failing,
        first_scenario=scenario,
    )


@dataclass(frozen=True, slots=True)
class Timings:
    """How long cases took. ``classes`` counts cases by ``DURATION_EDGES``, slower than the last edge at the end.

    ``slowest_cases`` and ``slowest_turns`` are (place, what, milliseconds).
    """

    classes: tuple[int, ...]
    total_ms: float
    measured: int
    slowest_cases: tuple[tuple[int, str, float], ...]
    slowest_turns: tuple[tuple[int, str, float], ...]


def timings(run: Run) -> Timings:
    """Return the timings of the cases that ran at least one turn."""
    ran = cases_of(run).filter(turn_count__gt=0)
    classes = {f"class_{low}": _count_between(low, high) for low, high in _duration_classes()}
    counted = ran.aggregate(total=Sum("duration_ms"), measured=Count("id"), **classes)
    slow_cases = ran.order_by("-duration_ms", "position").values_list("position", "variant__scenario_id", "duration_ms")
    return Timings(
        classes=tuple(counted[name] or 0 for name in classes),
        total_ms=counted["total"] or 0,
        measured=counted["measured"],
        slowest_cases=tuple(slow_cases[:5]),
        slowest_turns=_slowest_turns(run),
    )


def _duration_classes() -> Iterator[tuple[int, int | None]]:
    yield from pairwise((0, *DURATION_EDGES))
    yield DURATION_EDGES[-1], None


def _count_between(low: float, high: float | None) -> Sum:
    inside = Q(duration_ms__gte=low) if high is None else Q(duration_ms__gte=low, duration_ms__lt=high)
    return Sum(When_(When(inside, then=Value(1)), default=Value(0), output_field=IntegerField()))


def _slowest_turns(run: Run) -> tuple[tuple[int, str, float], ...]:
    """The slowest turns stand in the slowest cases: a case takes at least as long as any of its turns.

    So the turns of the few slowest cases hold the slowest turn of all, and the next ones nearly always.
    """
    slowest = cases_of(run).filter(turn_count__gt=0).order_by("-duration_ms", "position").values_list("id")[:50]
    turns = Turn.objects.filter(case_id__in=[pk for (pk,) in slowest]).annotate(place=F("case__position"))
    ordered = turns.order_by("-duration_ms", "place", "position")
    return tuple(ordered.values_list("place", "step_id", "duration_ms")[:5])


def scenario_tags(run: Run) -> tuple[str, ...]:
    """Return the tags of the run's suite revision, in order."""
    return tuple(sorted({tag for tags in run.revision.scenarios.values_list("tags", flat=True) for tag in tags}))


def status_counts(run: Run) -> dict[str, int]:
    """Return the run's stored counts by case status, in the order of statuses, zero included."""
    return {status: getattr(run, status) for status in CASE_STATUSES}
