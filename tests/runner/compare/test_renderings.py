"""Text, Markdown and HTML of a comparison: bounded, and safe with whatever texts came from outside."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from evalrunner.compare import CaseOutcome, RunFacts, RunOutcomes, VariantId, compare
from evalrunner.compare.document import Naming, RunName, SideName, SignatureName, VariantName, make_document
from evalrunner.compare.judging import judge_files
from evalrunner.compare.renderings import (
    FORMATS,
    MOST_CHARACTERS,
    render_html,
    render_json,
    render_markdown,
    render_text,
)
from evalrunner.compare.renderings.markdown import cell, code
from evalrunner.compare.unseen import on_one_line
from evalrunner.compare.verdict import assess
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.runner.compare.files import family

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "@everyone see #1 and https://evil.example/x",
    "a | b | c",
    "back`tick``s and `",
    "`",
    "\\| \\` \\",
    "[link](javascript:alert(1)) ![pic](https://evil.example/p.png)",
    "**bold** _it_ ~~no~~ # head",
    "line\nbreak\r\n| --- |\n\n# new",
    "\x1b[31mred\x1b[0m\x07",
    "\u202eright to left\u2066",
    "half \ud83d of a pair",
    "</code></details></td></table><h1>out</h1>",
    "<!-- comment --> &amp; &#64;here",
    "]]> {{ template }} {% tag %} ${x}",
    " ",
    "\u00a0\u200b",
    '\'" onmouseover="x',
]
MARKS = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def document(
    texts: list[str], *, scenarios: int = 1, statuses: tuple[str, str] = ("passed", "failed")
) -> dict[str, Any]:
    """Compare two runs in which every text from outside is one of ``texts``."""

    def text(number: int) -> str:
        return texts[number % len(texts)]

    variants = [
        VariantId(f"{text(number)}{number}" if scenarios > 1 else text(number), ((text(number + 1), text(number + 2)),))
        for number in range(scenarios)
    ]
    left, right = (
        [
            RunOutcomes(
                RunFacts(f"run {side}", f"{text(0)}{side}", f"{text(1)}{side}", text(2), f"{text(3)}{side}"),
                [
                    CaseOutcome(variant, 0, place, status, f"signature {place}" if status == "failed" else "")
                    for place, variant in enumerate(variants)
                ],
            )
        ]
        for side, status in enumerate(statuses)
    )
    compared = compare(left, right)
    naming: Naming[VariantId] = Naming(
        variant=lambda variant: VariantName(variant.scenario_id, dict(variant.variants), text(4), (text(5),)),
        signature=lambda key: SignatureName(key, text(int(key.split()[1]))),
        is_critical=lambda _variant: True,
    )
    names = [
        SideName(text(0), text(1), text(2), text(3), (RunName(text(4), "completed"),), label=text(5)) for _ in "ab"
    ]
    assessment = assess(compared, scenario_of=naming.scenario_of, is_critical=naming.is_critical)
    return make_document(compared, assessment, baseline=names[0], candidate=names[1], naming=naming)


# --------------------------------------------------------------------------------------------------------- invisible


@given(st.text(st.characters(), max_size=80))
def test_a_text_on_one_line_can_be_written_and_holds_nothing_invisible(text: str) -> None:
    shown = on_one_line(text)

    shown.encode()
    assert shown.isprintable()
    assert len(on_one_line(text, 20)) <= 20


def test_what_is_invisible_is_written_out() -> None:
    assert on_one_line("a\n\x1b\u202e\ud83d\0") == "a\\nU+001BU+202E\\ud83d\\0"


# ----------------------------------------------------------------------------------------------------------- Markdown


def code_texts(markdown: str) -> list[str]:
    return [
        token.content
        for block in MARKS.parse(markdown)
        for token in block.children or ()
        if token.type == "code_inline"
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_one_code_span_of_one_cell(text: str) -> None:
    line = f"| first | second |\n| --- | --- |\n| {cell(text, 200)} | end |\n"

    tokens = MARKS.parse(line)

    cells = [token for token in tokens if token.type == "inline"]
    assert [cell.content for cell in (cells[0], cells[1], cells[3])] == ["first", "second", "end"]
    spans = [token.content for token in cells[2].children or ()]
    assert len(cells) == 4
    assert spans in ([on_one_line(text)], [f"({len(text)} blanks)"])


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_hostile_text_means_anything_in_the_markdown(text: str) -> None:
    markdown = render_markdown(document([text]))

    kinds = {token.type for block in MARKS.parse(markdown) for token in [block, *(block.children or ())]}
    assert "image" not in kinds
    assert "link_open" not in kinds
    assert "html_inline" not in kinds
    outside = " ".join(
        token.content for block in MARKS.parse(markdown) for token in block.children or () if token.type == "text"
    )
    assert "evil" not in outside
    assert "@" not in outside.replace(" @ ", "")
    html = [block.content.strip() for block in MARKS.parse(markdown) if block.type == "html_block"]
    assert html in ([], ["<details><summary>Cases from (down) to (across)</summary>", "</details>"])


@given(st.lists(st.text(st.characters(), min_size=1, max_size=30), min_size=1, max_size=6))
def test_any_text_survives_markdown_as_code(texts: list[str]) -> None:
    shown = {on_one_line(text) for text in texts if on_one_line(text).strip()}
    line = "\n".join(["| a |", "| --- |", *(f"| {cell(text, 400)} |" for text in texts), ""])
    items = "\n".join([*(f"- {code(text, 400)}" for text in texts), ""])

    for written in (line, items):
        assert {found.strip() for found in code_texts(written)} == {text.strip() for text in shown}


@pytest.mark.parametrize("statuses", [("passed", "failed"), ("failed", "passed"), ("passed", "pending")])
def test_every_code_span_of_the_markdown_shows_a_text_as_it_is(statuses: tuple[str, str]) -> None:
    """Whatever place it stands in: tables, reasons, failures, differences, the plan."""
    texts = [text for text in HOSTILE if on_one_line(text).strip() and len(on_one_line(text)) < 60]
    made = document(texts, scenarios=len(texts), statuses=statuses)

    found = code_texts(render_markdown(made))

    known = {on_one_line(text) for text in _texts_of(made)}
    steps = {f"{step}={variant}" for row in made["rows"] for step, variant in row["variants"].items()}
    assert set(found) <= known | {on_one_line(step) for step in steps}
    assert len(found) > 40


def _texts_of(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set().union(*map(_texts_of, value.values()))
    return set().union(*map(_texts_of, value)) if isinstance(value, list) else {str(value)}


def test_markdown_stays_below_its_bound_and_counts_what_it_leaves_out() -> None:
    long = document([f"{'x' * 5_000}{letter}" for letter in "abcdefgh"], scenarios=3_000)

    markdown = render_markdown(long)

    assert len(markdown) <= MOST_CHARACTERS == 60_000
    assert "**Broken** (3,000)" in markdown
    assert re.search(r"and 2,9\d\d more", markdown)


def test_markdown_is_below_its_bound_with_the_worst_of_texts_everywhere() -> None:
    worst = document(["`|" * 3_000, "\u202e" * 3_000, "\ud83d" * 3_000], scenarios=400, statuses=("failed", "passed"))

    assert len(render_markdown(worst)) <= MOST_CHARACTERS


def test_markdown_of_a_family_says_the_answer_first() -> None:
    lines = render_markdown(judge_files([family("clinic", 1)], [family("clinic", 2)])).splitlines()

    assert lines[0] == "### ❌ Regressed"
    assert lines[2].endswith(": regressed.")
    assert any(line.startswith("| ▼ | `results-neurology` `open=") or "`results-neurology`" in line for line in lines)


# --------------------------------------------------------------------------------------------------------------- HTML


class Elements(HTMLParser):
    """Collects elements and attributes, and the text between."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(html: str) -> Elements:
    elements = Elements()
    elements.feed(html)
    return elements


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_add_no_element_and_no_attribute_to_the_html(text: str) -> None:
    harmless = parsed(render_html(document(["harmless"])))

    hostile = parsed(render_html(document([text])))

    def shape(elements: Elements) -> list[tuple[str, frozenset[str]]]:
        return [(tag, frozenset(attributes)) for tag, attributes in elements.found]

    assert shape(hostile) == shape(harmless)
    assert on_one_line(text) in "".join(hostile.texts)


def test_the_html_file_holds_no_script_and_asks_no_host_for_anything() -> None:
    html = render_html(document(HOSTILE, scenarios=30))

    elements = parsed(html).found
    assert {"script", "link", "img", "iframe", "object", "form"}.isdisjoint(tag for tag, _attributes in elements)
    assert not any(
        name in ("href", "src", "style") or name.startswith("on") for _tag, found in elements for name in found
    )
    [policy] = [found["content"] for tag, found in elements if found.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    html.encode()


def test_the_style_sheet_is_the_one_that_the_policy_allows() -> None:
    import base64
    import hashlib

    html = render_html(document(["x"]))
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)

    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in unescape(html)


def test_html_lists_what_did_not_change_folded() -> None:
    html = render_html(judge_files([family("clinic", 1)], [family("clinic", 2)]))

    assert "<details><summary><strong>Steady</strong> (87)" in html
    assert "<details open><summary><strong>Broken</strong> (5)" in html


# ------------------------------------------------------------------------------------------------------- text and JSON


@pytest.mark.parametrize("text", HOSTILE)
def test_a_terminal_is_sent_nothing_that_it_would_obey(text: str) -> None:
    lines = render_text(document([text])).split("\n")

    assert all(line.isprintable() for line in lines)


def test_text_cuts_long_groups_with_a_count() -> None:
    assert "… and 75 more" in render_text(document(["s"], scenarios=100))


def test_json_holds_the_texts_as_they_came() -> None:
    made = document(HOSTILE, scenarios=len(HOSTILE))

    text = render_json(made)

    text.encode()
    assert json.loads(text) == made
    assert made["rows"][0]["candidate"]["failures"][0]["words"] in HOSTILE


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize(("family_name", "number"), [("clinic", 1), ("refunds", 3), ("flights", 4)])
def test_every_rendering_says_the_same_sentence(name: str, family_name: str, number: int) -> None:
    made = judge_files([family(family_name, number)], [family(family_name, number + 1)])

    assert made["sentence"] in FORMATS[name](made)


@pytest.mark.parametrize("name", list(FORMATS))
def test_sides_without_a_case_are_rendered(name: str) -> None:
    assert "Neither side has a case" in FORMATS[name](document(["x"], scenarios=0))
