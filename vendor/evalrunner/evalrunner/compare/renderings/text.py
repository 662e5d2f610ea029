"""The comparison document for a terminal: plain text, no colour, nothing from outside that could move the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from evalrunner.compare.renderings.shared import (
    CHANGE_MARKS,
    GROUP_TITLES,
    SCENARIOS_NAMED,
    VERDICT_TITLES,
    Data,
    accepted_title,
    accepted_words,
    changed_clusters,
    cluster_words,
    completeness_words,
    cut,
    marks_of,
    rate_words,
    runs_words,
    shown_groups,
    unchanged_words,
    used_statuses,
    what_failed,
)
from evalrunner.compare.unseen import on_one_line

ROWS_NAMED: Final = 25  # of a group
CLUSTERS_NAMED: Final = 10
_LONGEST: Final = 160  # characters of a text from outside
_LABEL: Final = 14


def render_text(document: Data) -> str:
    """Return the document as lines; lists are cut with the number of what was left out."""
    parts = (_head, _reasons, _differences, _accepted, _statistics, _plan, _rows, _clusters, _matrix)
    blocks = ["\n".join(lines) for part in parts if (lines := list(part(document)))]
    return "\n\n".join(blocks) + "\n"


def _head(document: Data) -> Iterator[str]:
    yield f"{VERDICT_TITLES[document['verdict']].upper()}: {document['sentence']}"
    yield ""
    for name in ("baseline", "candidate"):
        side = document[name]
        label = f" ({_outside(side['label'])})" if side["label"] else ""
        version = f"{_outside(side['target']['id'])} @ {_outside(side['target']['fingerprint'])}{label}"
        yield f"{name.capitalize():<{_LABEL}}{version}, {runs_words(side)}"
        yield f"{'':<{_LABEL}}pass rate {rate_words(side)}"


def _reasons(document: Data) -> Iterator[str]:
    if document["reasons"]:
        yield "Why"
    for reason in document["reasons"]:
        yield f"  {VERDICT_TITLES[reason['verdict']].lower():<16}{_outside(reason['text'])}"
        if reason["scenarios"]:
            yield f"{'':<18}{_list(reason['scenarios'], SCENARIOS_NAMED)}"


def _differences(document: Data) -> Iterator[str]:
    if document["differences"]:
        yield "Not the same on both sides"
    for difference in document["differences"]:
        yield f"  {_outside(difference['sentence'], 2 * _LONGEST)}"


def _accepted(document: Data) -> Iterator[str]:
    if title := accepted_title(document):
        yield title
    shown, left = cut(document["accepted"], ROWS_NAMED)
    for each in shown:
        yield f"  {_outside(each['scenarioId'])}: {accepted_words(each, _outside)}"
    if left:
        yield f"  … and {left:,} more"


def _statistics(document: Data) -> Iterator[str]:
    yield f"{'Chance':<{_LABEL}}{document['test']['sentence']}"
    yield f"{'Size':<{_LABEL}}{document['size']}"
    yield f"{'Completeness':<{_LABEL}}{completeness_words(document)}"
    if document["errors"]:
        yield f"{'Errors':<{_LABEL}}{document['errors']:,} cases of the candidate ended in an error."


def _plan(document: Data) -> Iterator[str]:
    plan = document["plan"]
    if plan["isNeeded"]:
        yield "What would decide"
        for sentence in plan["sentences"]:
            yield f"  {sentence}"
        for title, name in (("repeat", "variants"), ("resume or retry", "retry")):
            if plan[name]:
                yield f"  {title}: {_list([_variant(each, ' ') for each in plan[name]], SCENARIOS_NAMED, is_safe=True)}"


def _rows(document: Data) -> Iterator[str]:
    for group, rows in shown_groups(document):
        total = document["groups"][group]
        shown, _left = cut(rows, ROWS_NAMED)
        yield f"{GROUP_TITLES[group]} ({total:,})"
        for row in shown:
            yield from _row(row)
        if total > len(shown):
            yield f"  … and {total - len(shown):,} more"
        yield ""
    if unchanged := unchanged_words(document):
        yield unchanged


def _row(row: Data) -> Iterator[str]:
    marks = "".join(f" [{mark}]" for mark in marks_of(row))
    counts = f"{row['baseline']['words']} → {row['candidate']['words']}"
    yield f"  {CHANGE_MARKS[row['class']]} {_variant(row, '  ')}   {counts}{marks}"
    if failure := what_failed(row):
        yield f"      {_outside(failure)}"


def _clusters(document: Data) -> Iterator[str]:
    clusters = changed_clusters(document)
    if clusters:
        yield "Failures"
    shown, left = cut(clusters, CLUSTERS_NAMED)
    for cluster in shown:
        yield f"  {cluster['change']:<8}{cluster_words(cluster)}"
        yield f"          {_outside(cluster['words'])}"
    if left:
        yield f"  … and {left:,} more"


def _matrix(document: Data) -> Iterator[str]:
    rows, columns = used_statuses(document)
    if rows:
        yield "Cases from (down) to (across)"
        yield f"  {'':<10}" + "".join(f"{column:>11}" for column in columns)
    for before in rows:
        cells = (document["matrix"][before][after] for after in columns)
        yield f"  {before:<10}" + "".join(f"{number or '·':>11}" for number in cells)


def _variant(named: Data, separator: str) -> str:
    chosen = [f"{_outside(step)}={_outside(variant)}" for step, variant in named["variants"].items()]
    return separator.join([_outside(named["scenarioId"]), *chosen])


def _list(names: Iterable[str], most: int, *, is_safe: bool = False) -> str:
    shown, left = cut(list(names), most)
    texts = shown if is_safe else [_outside(name) for name in shown]
    return ", ".join(texts) + (f" and {left:,} more" if left else "")


def _outside(text: Any, longest: int = _LONGEST) -> str:
    return on_one_line(str(text), longest)
