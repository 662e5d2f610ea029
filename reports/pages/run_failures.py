"""The failures of a run, grouped by signature, with what notes say of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse
from evalrunner.compare import percent_text
from evalrunner.compare.outcomes import FAILING_STATUSES

from reports.domain.attention import Attention, Standing
from reports.domain.wording import counted as number_of
from reports.models import Run
from reports.pages.note_marks import NoteMark, note_mark
from reports.pages.notes import new_note_href
from reports.pages.run_links import case_href, cases_href
from reports.selectors.notes import NotedRun, note_words
from reports.selectors.run import CaseFilters, Cluster


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """A group of failures. ``share`` is of all failing cases; ``bar`` that share in whole percent.

    ``attention`` says how many of its cases notes do not cover; "" where they cover none.
    """

    what: str
    where: str
    detail: str
    cases: int
    variants: int
    share: str
    bar: int
    href: str
    first_href: str
    first_scenario: str
    note: NoteMark
    attention: str


def cluster_lines(
    run: Run, clusters: Sequence[Cluster], counts: Mapping[str, int], noted: NotedRun, *, may_triage: bool
) -> tuple[ClusterLine, ...]:
    """Return the groups as the page shows them, each with the mark of its note."""
    marks = _marks(run, clusters, noted, may_triage=may_triage)
    return tuple(_cluster_line(run, each, counts, noted, marks[each.pk]) for each in clusters)


def failures_words(counts: Mapping[str, int], signatures: int) -> str:
    failing = _failing(counts)
    return f"{number_of(failing, 'case')}, {number_of(signatures, 'signature')}" if failing else ""


def _failing(counts: Mapping[str, int]) -> int:
    return sum(counts[status] for status in FAILING_STATUSES)


def _marks(run: Run, clusters: Sequence[Cluster], noted: NotedRun, *, may_triage: bool) -> dict[int, NoteMark]:
    """Return the mark of each cluster: the note on its signature, or where to write one."""
    words = note_words(team=run.team, pks=noted.on_signature.values())
    here = f"{reverse('run', args=[run.pk])}#failures"
    return {
        each.pk: note_mark(
            words.get(noted.on_signature.get(each.pk, 0)),
            Standing.STILL_FAILS if noted.covered.get(each.pk, 0) < each.cases else Standing.COVERED,
            new_href=new_note_href(target=run.version.target_id, run=run.pk, signature=each.key, following=here),
            may_write=may_triage,
        )
        for each in clusters
    }


def _cluster_line(
    run: Run, cluster: Cluster, counts: Mapping[str, int], noted: NotedRun, note: NoteMark
) -> ClusterLine:
    failing = _failing(counts)
    filters = CaseFilters(status="failures", signature=cluster.key)
    covered = noted.covered.get(cluster.pk, 0)
    return ClusterLine(
        what=_cluster_what(cluster),
        where={"turn": f"step {cluster.step_id}", "scenario": "at the end"}.get(cluster.scope, "the case itself"),
        detail=cluster.first_failing,
        cases=cluster.cases,
        variants=cluster.variants,
        share=percent_text(cluster.cases, failing),
        bar=round(100 * cluster.cases / failing),
        href=cases_href(run, filters, ""),
        first_href=case_href(run, cluster.first_position, filters),
        first_scenario=cluster.first_scenario,
        note=note,
        attention=Attention(cluster.cases, covered).words if covered else "",
    )


def _cluster_what(cluster: Cluster) -> str:
    paths = [" › ".join(path) for path in cluster.assertions]
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "") or cluster.error_code
