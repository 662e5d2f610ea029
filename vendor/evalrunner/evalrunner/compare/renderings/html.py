"""The comparison document as one HTML file: no script, nothing from another host, readable in light and dark.

The file's own policy allows its one style sheet, by its hash, and nothing else, so that even markup that slipped
through could load and run nothing. All texts from outside are escaped with what is invisible written out.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from typing import Any, Final

from evalrunner.compare.changes import FOLDED, Group
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
    unchanged_words,
    used_statuses,
    what_failed,
)
from evalrunner.compare.unseen import on_one_line

ROWS_NAMED: Final = 2_000  # of a group
_NAMES: Final = 200  # scenarios of a reason, clusters, differences
_LONGEST: Final = 400  # characters of a text from outside
_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1c2024;--soft:#5b636d;--rule:#d9dde2;--paper:#fff;--bad:#b42318;--good:#17663a;
--open:#8a5a00}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--soft:#a3abb5;--rule:#333a42;--paper:#14171a;--bad:#ff8a7a;
--good:#6fd39a;--open:#f0b95b}}
body{font:14px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:78rem;margin:0 auto;
padding:1.5rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:1.8rem 0 .4rem}
.pass{color:var(--good)}.regressed{color:var(--bad)}.inconclusive,.not_comparable{color:var(--open)}
.sentence{font-size:1.1rem;margin:.3rem 0 1.2rem}.soft{color:var(--soft)}
.wide{overflow-x:auto}table{border-collapse:collapse;min-width:44rem}
th,td{text-align:left;vertical-align:top;padding:.25rem .9rem .25rem 0;border-bottom:1px solid var(--rule)}
th{font-weight:600;color:var(--soft)}.counts{white-space:nowrap}.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font:12.5px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
summary{cursor:pointer}svg{display:block;width:100%;max-width:36rem;height:auto}
"""
_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY: Final = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"


def render_html(document: Data) -> str:
    """Return the whole file as text; it can be written as UTF-8 whatever the document holds."""
    parts = (_head, _sides, _reasons, _plan, _differences, _accepted, _statistics, _groups, _clusters, _matrix)
    body = "\n".join(line for part in parts for line in part(document))
    title = f"{VERDICT_TITLES[document['verdict']]}: {_text(document['candidate']['target']['fingerprint'])}"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _text(text: Any, longest: int = _LONGEST) -> str:
    return escape(on_one_line(str(text), longest))


def _code(text: Any, longest: int = _LONGEST) -> str:
    return f'<code dir="auto">{_text(text, longest)}</code>'


def _head(document: Data) -> Iterator[str]:
    verdict = document["verdict"]
    yield f'<h1 class="{verdict}">{VERDICT_TITLES[verdict]}</h1>'
    yield f'<p class="sentence">{_text(document["sentence"], 2 * _LONGEST)}</p>'


def _sides(document: Data) -> Iterator[str]:
    yield '<div class="wide"><table><tr><th></th><th>Version</th><th>Runs</th><th>Pass rate</th></tr>'
    for name in ("baseline", "candidate"):
        side = document[name]
        label = f" {_code(side['label'])}" if side["label"] else ""
        version = f"{_code(side['target']['id'])} @ {_code(side['target']['fingerprint'])}{label}"
        runs = " ".join(_code(run["runId"]) for run in side["runs"][:_NAMES])
        yield (
            f'<tr><th scope="row">{name.capitalize()}</th><td>{version}</td>'
            f"<td>{runs_words(side)}<br>{runs}</td><td>{rate_words(side)}</td></tr>"
        )
    yield "</table></div>"


def _reasons(document: Data) -> Iterator[str]:
    if not document["reasons"]:
        return
    yield "<h2>Why</h2><ul>"
    for reason in document["reasons"]:
        shown, left = cut(reason["scenarios"], _NAMES)
        names = " ".join(_code(name) for name in shown) + (f" and {left:,} more" if left else "")
        verdict = f'<strong class="{reason["verdict"]}">{VERDICT_TITLES[reason["verdict"]]}</strong>'
        yield f"<li>{verdict}: {_text(reason['text'])}{'<br>' + names if names else ''}</li>"
    yield "</ul>"


def _plan(document: Data) -> Iterator[str]:
    plan = document["plan"]
    if not plan["isNeeded"]:
        return
    yield "<h2>What would decide</h2><ul>"
    yield from (f"<li>{_text(sentence)}</li>" for sentence in plan["sentences"])
    yield "</ul>"
    for title, name in (("To repeat", "variants"), ("To resume or retry", "retry")):
        if plan[name]:
            shown, left = cut(plan[name], ROWS_NAMED)
            items = "".join(f"<li>{_variant(each)}</li>" for each in shown) + (
                f"<li>{left:,} more</li>" if left else ""
            )
            yield f"<details><summary>{title}: {len(plan[name]):,}</summary><ul>{items}</ul></details>"


def _differences(document: Data) -> Iterator[str]:
    if not document["differences"]:
        return
    yield "<h2>Not the same on both sides</h2><ul>"
    shown, left = cut(document["differences"], _NAMES)
    for each in shown:
        yield f"<li>{_text(each['name'])}: {_code(each['baseline'])} → {_code(each['candidate'])}</li>"
    yield (f"<li>{left:,} more</li>" if left else "") + "</ul>"


def _accepted(document: Data) -> Iterator[str]:
    if title := accepted_title(document):
        yield f"<h2>{title}</h2><ul>"
        shown, left = cut(document["accepted"], _NAMES)
        for each in shown:
            yield f"<li>{_code(each['scenarioId'])}: {accepted_words(each, _code)}</li>"
        yield (f"<li>{left:,} more</li>" if left else "") + "</ul>"


def _statistics(document: Data) -> Iterator[str]:
    yield "<h2>How sure</h2>"
    if document["change"] is not None:
        yield _interval(document["change"])
    yield f"<ul><li>{_text(document['test']['sentence'])}</li><li>{_text(document['size'])}</li>"
    yield f"<li>{completeness_words(document)}</li>"
    if document["errors"]:
        yield f"<li>{counted(document['errors'], 'case')} of the candidate ended in an error.</li>"
    yield "</ul>"


def _interval(change: Data) -> str:
    """Draw the interval of the difference on an axis that holds nought, the margin and both ends."""
    reach = 1.15 * max(abs(change["low"]), abs(change["high"]), change["margin"], 0.01)

    def at(value: float) -> str:
        return f"{300 + 280 * value / reach:.1f}"

    margin = at(-change["margin"])
    words = f"Difference {100 * change['mean']:.1f} points, {100 * change['low']:.1f} to {100 * change['high']:.1f}"
    return (
        f'<svg viewBox="0 0 600 60" role="img" aria-label="{words}" stroke="currentColor" fill="currentColor">'
        '<line x1="20" y1="38" x2="580" y2="38" stroke-opacity="0.3"/>'
        f'<line x1="{at(0)}" y1="10" x2="{at(0)}" y2="44" stroke-opacity="0.5"/>'
        f'<line x1="{margin}" y1="10" x2="{margin}" y2="44" stroke-dasharray="4 3"/>'
        f'<line x1="{at(change["low"])}" y1="24" x2="{at(change["high"])}" y2="24" stroke-width="3"/>'
        f'<circle cx="{at(change["mean"])}" cy="24" r="5"/>'
        f'<g stroke="none" font-size="12"><text x="{at(0)}" y="57" text-anchor="middle">0</text>'
        f'<text x="{margin}" y="57" text-anchor="middle">margin −{100 * change["margin"]:g}</text>'
        "</g></svg>"
    )


def _groups(document: Data) -> Iterator[str]:
    by_group: dict[str, list[Data]] = {}
    for row in document["rows"]:
        by_group.setdefault(row["group"], []).append(row)
    if unchanged := unchanged_words(document):
        yield f'<p class="soft">{unchanged}</p>'
    for group in Group:
        if document["groups"][group]:
            yield from _group(group, by_group.get(group, []), document["groups"][group])


def _group(group: Group, rows: list[Data], total: int) -> Iterator[str]:
    is_open = "" if group in FOLDED else " open"
    yield f"<details{is_open}><summary><strong>{GROUP_TITLES[group]}</strong> ({total:,})</summary>"
    yield '<div class="wide"><table><tr><th></th><th>Scenario variant</th><th>Baseline → candidate</th>'
    yield "<th>What failed</th><th></th></tr>"
    shown = rows[:ROWS_NAMED]
    for row in shown:
        failure = what_failed(row)
        yield (
            f"<tr><td>{CHANGE_MARKS[row['class']]}</td><td>{_variant(row)}</td>"
            f'<td class="counts">{row["baseline"]["words"]} → {row["candidate"]["words"]}</td>'
            f"<td>{_code(failure) if failure else ''}</td><td>{', '.join(marks_of(row))}</td></tr>"
        )
    yield "</table></div>"
    if total > len(shown):
        yield f'<p class="soft">and {total - len(shown):,} more</p>'
    yield "</details>"


def _clusters(document: Data) -> Iterator[str]:
    clusters = changed_clusters(document)
    if not clusters:
        return
    yield '<h2>Failures</h2><div class="wide"><table><tr><th></th><th>How much</th><th>What failed</th></tr>'
    shown, left = cut(clusters, _NAMES)
    for each in shown:
        yield f"<tr><td>{each['change']}</td><td>{cluster_words(each)}</td><td>{_code(each['words'])}</td></tr>"
    yield "</table></div>" + (f'<p class="soft">and {left:,} more</p>' if left else "")


def _matrix(document: Data) -> Iterator[str]:
    rows, columns = used_statuses(document)
    if not rows:
        return
    yield '<h2>Cases from (down) to (across)</h2><div class="wide"><table><tr><th></th>'
    yield "".join(f'<th class="number">{column}</th>' for column in columns) + "</tr>"
    for before in rows:
        cells = (document["matrix"][before][after] for after in columns)
        numbers = "".join(f'<td class="number">{number or "·"}</td>' for number in cells)
        yield f'<tr><th scope="row">{before}</th>{numbers}</tr>'
    yield "</table></div>"


def _variant(named: Data) -> str:
    chosen = (_code(f"{step}={variant}") for step, variant in named["variants"].items())
    return " ".join([_code(named["scenarioId"]), *chosen])
