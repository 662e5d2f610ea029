"""The comparison document as Markdown for a pull-request comment, of bounded size.

GitHub takes comments of 65,536 characters; the text here has at most 60,000, so that a sender can add some. Lists are
cut, all alike, until it fits, and say how many entries were left out.

Everything from outside stands in code spans, fenced by more backticks than it holds: there neither HTML nor emphasis,
links, mentions or issue numbers have a meaning. What is invisible is written out, so a text is one line. In tables, and
only there, pipes are escaped: tables are cut into cells before code spans are looked for, and take the escapes away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from evalrunner.compare.renderings.shared import (
    CHANGE_MARKS,
    GROUP_TITLES,
    VERDICT_TITLES,
    Data,
    accepted_title,
    accepted_words,
    changed_clusters,
    cluster_words,
    completeness_words,
    counted,
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

MOST_CHARACTERS: Final = 60_000
_LIMITS: Final = (50, 25, 12, 6, 3, 1, 0)  # entries of a list, the first that fits
_LONGEST_ID: Final = 80  # characters of an id or a fingerprint
_LONGEST_WORDS: Final = 160
_MOST_STEPS: Final = 6  # chosen variants named of a scenario variant
_VERDICT_SIGNS: Final = {"pass": "✅", "regressed": "❌", "inconclusive": "❔", "not_comparable": "🚫"}
_fences = re.compile("`+").findall


def render_markdown(document: Data) -> str:
    """Return the document in at most 60,000 characters."""
    for most in _LIMITS:
        text = _render(document, most)
        if len(text) <= MOST_CHARACTERS:
            return text
    raise AssertionError("without any list the text is far shorter")


def _render(document: Data, most: int) -> str:
    parts = (_head, _reasons, _plan, _differences, _accepted, _groups, _clusters, _statistics, _matrix)
    blocks = ["\n".join(lines) for part in parts if (lines := list(part(document, most)))]
    return "\n\n".join(blocks) + "\n"


def code(text: str, longest: int = _LONGEST_ID) -> str:
    """Return a text from outside as a code span, for any place but a table (see ``cell``)."""
    shown = on_one_line(text, longest)
    if not shown.strip():
        return f"({len(text)} blanks)" if text else "(empty)"
    fence = "`" * (1 + max(map(len, _fences(shown)), default=0))
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(text: str, longest: int = _LONGEST_ID) -> str:
    """Return a text from outside as a code span inside a table."""
    return code(text, longest).replace("|", "\\|")


def _head(document: Data, _most: int) -> Iterator[str]:
    verdict = document["verdict"]
    yield f"### {_VERDICT_SIGNS[verdict]} {VERDICT_TITLES[verdict]}"
    yield ""
    yield document["sentence"]
    yield ""
    yield "| | version | pass rate |"
    yield "| --- | --- | --- |"
    for name in ("baseline", "candidate"):
        side = document[name]
        label = f" {cell(side['label'])}" if side["label"] else ""
        version = f"{cell(side['target']['id'])} @ {cell(side['target']['fingerprint'])}{label}, {runs_words(side)}"
        yield f"| {name} | {version} | {rate_words(side)} |"


def _reasons(document: Data, most: int) -> Iterator[str]:
    for reason in document["reasons"]:
        named = f": {_names(reason['scenarios'], most)}" if reason["scenarios"] else ""
        yield f"- **{VERDICT_TITLES[reason['verdict']]}**: {_plain(reason['text'])}{named}"


def _plan(document: Data, most: int) -> Iterator[str]:
    plan = document["plan"]
    if not plan["isNeeded"]:
        return
    yield "**What would decide**"
    yield ""
    for sentence in plan["sentences"]:
        yield f"- {sentence}"
    for title, name in (("Repeat", "variants"), ("Resume or retry", "retry")):
        if plan[name]:
            yield f"- {title}: {_joined([_variant(each) for each in plan[name][:most]], len(plan[name]))}"


def _differences(document: Data, most: int) -> Iterator[str]:
    differences = document["differences"]
    if not differences:
        return
    yield "**Not the same on both sides**"
    yield ""
    shown, left = cut(differences, most)
    for each in shown:
        yield f"- {code(each['name'])}: {code(each['baseline'])} → {code(each['candidate'])}"
    if left:
        yield f"- and {left:,} more"


def _accepted(document: Data, most: int) -> Iterator[str]:
    if title := accepted_title(document):
        yield f"**{title}**"
        yield ""
        shown, left = cut(document["accepted"], most)
        for each in shown:
            yield f"- {code(each['scenarioId'])}: {accepted_words(each, _reason_code)}"
        if left:
            yield f"- and {left:,} more"


def _reason_code(text: str) -> str:
    return code(text, _LONGEST_WORDS)


def _groups(document: Data, most: int) -> Iterator[str]:
    for group, rows in shown_groups(document):
        total = document["groups"][group]
        yield f"**{GROUP_TITLES[group]}** ({total:,})"
        yield ""
        yield from _table(rows[:most])
        if total > len(rows[:most]):
            yield f"{'' if not rows[:most] else chr(10)}… and {total - len(rows[:most]):,} more"
        yield ""
    if unchanged := unchanged_words(document):
        yield unchanged


def _table(rows: Sequence[Data]) -> Iterator[str]:
    if rows:
        yield "| | scenario variant | baseline → candidate | what failed | |"
        yield "| --- | --- | --- | --- | --- |"
    for row in rows:
        counts = f"{row['baseline']['words']} → {row['candidate']['words']}"
        failure = what_failed(row)
        cells = (
            CHANGE_MARKS[row["class"]],
            _variant(row, cell),
            counts,
            cell(failure, _LONGEST_WORDS) if failure else "",
            ", ".join(marks_of(row)),
        )
        yield f"| {' | '.join(cells)} |"


def _clusters(document: Data, most: int) -> Iterator[str]:
    clusters = changed_clusters(document)
    if not clusters:
        return
    yield "**Failures**"
    yield ""
    shown, left = cut(clusters, min(most, 10))
    for each in shown:
        yield f"- {each['change']}, {cluster_words(each)}: {code(each['words'], _LONGEST_WORDS)}"
    if left:
        yield f"- and {left:,} more"


def _statistics(document: Data, _most: int) -> Iterator[str]:
    yield f"- Chance: {document['test']['sentence']}"
    yield f"- Size: {document['size']}"
    yield f"- Completeness: {completeness_words(document)}"
    if document["errors"]:
        yield f"- {counted(document['errors'], 'case')} of the candidate ended in an error."


def _matrix(document: Data, _most: int) -> Iterator[str]:
    rows, columns = used_statuses(document)
    if not rows:
        return
    yield "<details><summary>Cases from (down) to (across)</summary>"
    yield ""
    yield f"| | {' | '.join(columns)} |"
    yield f"| --- |{' ---: |' * len(columns)}"
    for before in rows:
        cells = (str(document["matrix"][before][after] or "·") for after in columns)
        yield f"| {before} | {' | '.join(cells)} |"
    yield ""
    yield "</details>"


def _variant(named: Data, span: Callable[[str], str] = code) -> str:
    steps = list(named["variants"].items())
    chosen = [span(f"{step}={variant}") for step, variant in steps[:_MOST_STEPS]]
    more = [f"and {len(steps) - _MOST_STEPS} more"] if len(steps) > _MOST_STEPS else []
    return " ".join([span(named["scenarioId"]), *chosen, *more])


def _names(names: Sequence[str], most: int) -> str:
    return _joined([code(name) for name in names[:most]], len(names))


def _joined(shown: Iterable[str], total: int) -> str:
    texts = list(shown)
    left = total - len(texts)
    more = [f"{'and ' if texts else ''}{left:,}{' more' if texts else ''}"] if left else []
    return ", ".join([*texts, *more])


def _plain(text: Any) -> str:
    """Escape one of our own sentences, whatever it may hold one day."""
    return re.sub(r"([\\`*_{}\[\]<>#|@!~&])", r"\\\1", on_one_line(str(text), _LONGEST_WORDS * 2))
