"""Assertion results as expressions that say why they passed or failed.

A report's results carry ids, verdicts and evidence, but not what was asked; the suite's definition carries that. Both
are read side by side here, child by child as long as the ids agree. A part is a *defect* only where its failure is what
makes the whole fail: a failed child of a passing ``any``, or anything below a ``not``, is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reports.domain.anchors import criterion_path, numbered
from reports.domain.json_tree import JsonNode, json_tree, readable_path, scalar_text

Json = Any  # a JSON value of a stored report, already checked when it was imported
Absent = Literal["absent"]

_EVIDENCE_NODES = 80  # of the tree that stands in a page; the whole evidence is in the raw JSON

_ASKS = {
    "exists": "{path} is present",
    "absent": "{path} is absent",
    "equals": "{path} equals {value}",
    "matches": "{path} matches {value}",
    "contains": "{path} contains {value}",
    "gte": "{path} is at least {value}",
    "lte": "{path} is at most {value}",
    "length": "{path} has length {value}",
}
_ASKS_OF = {"all": "all of", "any": "any of", "not": "not"}


@dataclass(frozen=True, slots=True)
class Expression:
    """One assertion result. ``path`` are the ids from the top, for its anchor.

    ``asks`` says in words what was asked, ``says`` what came ("got …"; "" where it adds nothing). ``is_open``: this
    branch decided the verdict. ``has_actual`` tells a present null from no value.
    """

    id: str
    path: str
    label: str
    kind: str
    passed: bool
    is_defect: bool
    is_open: bool
    asks: str
    says: str
    error_code: str
    has_actual: bool
    actual: Json
    has_expected: bool
    expected: Json
    evidence: Mapping[str, Json] | None
    children: tuple["Expression", ...]

    @property
    def title(self) -> str:
        return self.label or self.id

    @property
    def evidence_tree(self) -> JsonNode:
        return json_tree(self.evidence, budget=_EVIDENCE_NODES)

    @property
    def status(self) -> str:
        if self.error_code:
            return "error"
        return "passed" if self.passed else "failed"


def expressions(
    results: Sequence[Mapping[str, Json]],
    definitions: Sequence[Mapping[str, Json]] | None,
    *,
    above: str = "",
    is_guilty: bool = True,
) -> tuple[Expression, ...]:
    """Return the expressions of results; without fitting definitions they say what the results alone say.

    ``above`` is the path of the criterion whose children they are; ``is_guilty``: their failure makes it fail.
    """
    places = numbered(result["id"] for result in results)
    return tuple(
        _expression(result, definition, criterion_path(above, *place), is_guilty=is_guilty)
        for place, (result, definition) in zip(places, _paired(results, definitions or ()), strict=True)
    )


def _paired(
    results: Sequence[Mapping[str, Json]], definitions: Sequence[Mapping[str, Json]]
) -> list[tuple[Mapping[str, Json], Mapping[str, Json] | None]]:
    """Pair results with definitions of the same id; the same place counts first, since ids may repeat."""
    by_id = {definition["id"]: definition for definition in reversed(definitions)}
    pairs = []
    for index, result in enumerate(results):
        same_place = definitions[index] if index < len(definitions) else None
        fits = same_place is not None and same_place["id"] == result["id"]
        pairs.append((result, same_place if fits else by_id.get(result["id"])))
    return pairs


def _expression(
    result: Mapping[str, Json], definition: Mapping[str, Json] | None, path: str, *, is_guilty: bool
) -> Expression:
    kind = _kind(result, definition)
    passed = bool(result["passed"])
    is_defect = is_guilty and not passed
    actual = result.get("actual") or {}
    return Expression(
        id=result["id"],
        path=path,
        label=result.get("label") or "",
        kind=kind,
        passed=passed,
        is_defect=is_defect,
        is_open=is_defect,
        asks=_asks(kind, result, definition),
        says=_says(kind, result),
        error_code=result.get("errorCode") or "",
        has_actual=bool(actual.get("present")),
        actual=actual.get("value"),
        has_expected="expected" in result and kind != "custom",
        expected=result.get("expected"),
        evidence=result.get("evidence"),
        children=_children(result, definition, kind, path, is_defect=is_defect),
    )


def _children(
    result: Mapping[str, Json], definition: Mapping[str, Json] | None, kind: str, path: str, *, is_defect: bool
) -> tuple[Expression, ...]:
    asked = (definition or {}).get("assertions") or [
        each for each in [(definition or {}).get("assertion")] if each is not None
    ]
    is_guilty = is_defect and (kind != "not" or "errorCode" in result)
    return expressions(result.get("children") or (), asked, above=path, is_guilty=is_guilty)


def _kind(result: Mapping[str, Json], definition: Mapping[str, Json] | None) -> str:
    if definition is not None:
        return str(definition["kind"])
    if "children" in result:
        return "group"
    return "check" if "actual" in result else "custom"


def asks_in_words(definition: Mapping[str, Json]) -> str:
    """Return what an assertion of a suite asks for, its children left out."""
    return _asks(str(definition["kind"]), {}, definition)


def _asks(kind: str, result: Mapping[str, Json], definition: Mapping[str, Json] | None) -> str:
    if kind in _ASKS_OF:
        return _ASKS_OF[kind]
    if kind == "custom":
        expected = result.get("expected")
        named = (definition or {}).get("evaluator") or (isinstance(expected, dict) and expected.get("evaluator"))
        return f"evaluator {named}" if isinstance(named, str) else ""
    if kind == "check" and definition is not None:
        path = readable_path(definition["path"])
        return _ASKS[definition["operator"]].format(path=path, value=scalar_text(definition.get("value")))
    return f"expected {scalar_text(result['expected'])}" if "expected" in result else ""


def _says(kind: str, result: Mapping[str, Json]) -> str:
    if result.get("errorCode"):
        return str(result["errorCode"])
    actual = result.get("actual")
    if actual is None:
        return ""
    return f"got {scalar_text(actual.get('value'))}" if actual.get("present") else "it is absent"
