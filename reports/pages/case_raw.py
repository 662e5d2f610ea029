"""The raw JSON of a part of a case: as a bounded tree, and as text."""

import json
from dataclasses import dataclass

from reports.domain.json_tree import JsonNode, json_tree
from reports.models import Run
from reports.pages.case import raw_href
from reports.pages.parts import Crumb
from reports.pages.run import case_href, run_crumbs
from reports.selectors.case import WholeCase

TREE_NODES = 400
_TITLES = {
    "input": "Input",
    "observation": "Observation",
    "checkpoint": "Checkpoint",
    "assertions": "Assertion results",
}


@dataclass(frozen=True, slots=True)
class RawPage:
    """``more_href`` is the address that takes a JSON pointer appended, for members that the tree leaves out."""

    title: str
    crumbs: tuple[Crumb, ...]
    tree: JsonNode
    text_href: str
    more_href: str
    whole_href: str
    case_href: str
    pointer: str


def raw_page(run: Run, case: WholeCase, part: str, pointer: str, value: object) -> RawPage:
    """Return the tree of a part; ``pointer`` is where in it the tree begins."""
    return RawPage(
        title=_title(part),
        crumbs=run_crumbs(
            run,
            Crumb(f"{case.scenario_id}, repetition {case.repetition + 1}", case_href(run, case.position)),
            Crumb(_title(part)),
        ),
        tree=json_tree(value, budget=TREE_NODES, path=pointer.strip("/").replace("/", "."), pointer=pointer),
        text_href=f"{raw_href(run, case.position, part, pointer)}&as=text",
        more_href=f"{raw_href(run, case.position, part)}&pointer=",
        whole_href=raw_href(run, case.position, part) if pointer else "",
        case_href=case_href(run, case.position),
        pointer=pointer,
    )


def pretty(value: object) -> str:
    """Return indented JSON that can be sent as UTF-8: unpaired surrogates stay escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=2)
    return text


def _title(part: str) -> str:
    place, _, member = part.partition(".")
    if not place.isdigit():
        return {"case": "Case", "scenario": "Scenario definition"}[part]
    return f"{_TITLES.get(member, 'Turn')} of turn {int(place) + 1}"
