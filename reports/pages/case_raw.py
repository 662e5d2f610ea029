"""The raw JSON of a part of a case: as a bounded tree, and as text."""

import json
from dataclasses import dataclass

from evalrunner.compare import path_text

from reports.domain.json_tree import JsonNode, Steps, json_tree
from reports.models import Run
from reports.pages.parts import Crumb
from reports.pages.path_links import PathLinks, path_links, raw_href
from reports.pages.run_links import case_href, run_crumbs
from reports.selectors.case import PartValue, WholeCase

TREE_NODES = 400
_TITLES = {
    "input": "Input",
    "observation": "Observation",
    "checkpoint": "Checkpoint",
    "assertions": "Assertion results",
}


@dataclass(frozen=True, slots=True)
class RawTree:
    """``more_href`` is the address that takes a JSON pointer appended, for members that the tree leaves out; ``links``
    lead to the case opened at a member, None for a whole turn.
    """

    tree: JsonNode
    text_href: str
    more_href: str
    whole_href: str
    links: PathLinks | None


@dataclass(frozen=True, slots=True)
class RawPage:
    """``raw`` is the tree; ``pointer`` says where in the part it begins."""

    title: str
    crumbs: tuple[Crumb, ...]
    raw: RawTree
    case_href: str
    pointer: str


def raw_page(run: Run, case: WholeCase, part: str, found: PartValue) -> RawPage:
    return RawPage(
        title=_title(part),
        crumbs=run_crumbs(
            run,
            Crumb(f"{case.scenario_id}, repetition {case.repetition + 1}", case_href(run, case.position)),
            Crumb(_title(part)),
        ),
        raw=raw_tree(run, case.position, part, found),
        case_href=case_href(run, case.position),
        pointer=found.pointer,
    )


def raw_tree(run: Run, position: int, part: str, found: PartValue, *, sought: Steps | None = None) -> RawTree:
    """Return the tree of a part, from where ``found`` begins; ``sought`` is a path in it that must be in sight."""
    path = path_text(found.steps)
    return RawTree(
        tree=json_tree(found.value, budget=TREE_NODES, path=path, pointer=found.pointer, sought=sought),
        text_href=f"{raw_href(run, position, part, found.pointer)}&as=text",
        more_href=f"{raw_href(run, position, part)}&pointer=",
        whole_href=raw_href(run, position, part) if found.pointer else "",
        links=_links(run, position, part),
    )


def _links(run: Run, position: int, part: str) -> PathLinks | None:
    place, _, member = part.partition(".")
    if not place.isdigit():
        return path_links(run.pk, position, part)
    return path_links(run.pk, position, member, int(place) + 1) if member else None


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
