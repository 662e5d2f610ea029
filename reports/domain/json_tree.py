"""A JSON value as a tree that a page can show: bounded, nearest members first.

Values from outside may hold half a million members or one text of two megabytes. A tree holds at most ``budget`` nodes,
dealt out breadth first, so that the outer shape is always seen; what is left out says how much it is and where to find
it (its JSON pointer).
"""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from evalrunner.compare import member_path, path_text

Kind = Literal["object", "list", "text", "number", "boolean", "null"]
Steps = Sequence[str | int]

MEMBERS_SHOWN = 100  # of one object or list
TEXT_SHOWN = 2_000  # characters of one text


@dataclass(slots=True)
class JsonNode:
    """One value. ``label`` is its member name or index ("" at the top), ``path`` reads like ``response.options[0]``,
    ``pointer`` is its JSON pointer (RFC 6901). ``text`` is the value of a scalar, cut at ``TEXT_SHOWN``; ``size`` the
    number of members, or of characters of a text. ``hidden`` counts members that are not among ``children``.
    ``is_sought``: what was asked for; ``is_on_way``: what holds it.
    """

    label: str
    path: str
    pointer: str
    kind: Kind
    text: str = ""
    size: int = 0
    hidden: int = 0
    is_sought: bool = False
    is_on_way: bool = False
    children: list["JsonNode"] = field(default_factory=list)

    @property
    def is_container(self) -> bool:
        return self.kind in ("object", "list")

    @property
    def is_cut(self) -> bool:
        return self.kind == "text" and self.size > len(self.text)


def json_tree(
    value: object, *, budget: int = 200, path: str = "", pointer: str = "", sought: Steps | None = None
) -> JsonNode:
    """Return the tree of a JSON value with at most ``budget`` nodes; at least the top one.

    ``sought`` are the steps to a value that is in it (``at_path``): it and what holds it are among the nodes, however
    many stand before them.
    """
    root = _node("", path, pointer, value)
    left = budget - 1
    queue: deque[tuple[JsonNode, object, Steps | None]] = deque([(root, value, sought)])
    while queue:
        node, held, way = queue.popleft()
        node.is_sought, node.is_on_way = way == (), bool(way)
        shown = min(node.size, MEMBERS_SHOWN, max(left, 1 if way else 0)) if node.is_container else 0
        for label, item in _shown_members(held, shown, way):
            child = _child(node, label, item)
            node.children.append(child)
            further = way[1:] if way and way[0] == label else None
            child.is_sought = further == ()
            if child.is_container:
                queue.append((child, item, further))
        left = max(0, left - shown)
        node.hidden = node.size - shown if node.is_container else 0
    return root


def _shown_members(held: object, shown: int, way: Steps | None) -> list[tuple[str | int, object]]:
    """Return the first members; where the way leads to a later one, that one takes the place of the last."""
    members = list(islice(_members(held), shown))
    if way and members and all(label != way[0] for label, _item in members):
        members[-1] = way[0], held[way[0]]  # type: ignore[index]  # the way leads to a value that is there
    return members


def at_path(value: object, steps: Steps) -> object:
    """Return the value at a path; KeyError where there is none."""
    for step in steps:
        if isinstance(step, str):
            if not isinstance(value, dict):
                raise KeyError(step)
            value = value[step]
        elif isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            raise KeyError(step)
    return value


def steps_of_pointer(value: object, pointer: str) -> Steps:
    """Return the steps of a JSON pointer (RFC 6901) into a value; KeyError where it leads nowhere."""
    if pointer and not pointer.startswith("/"):
        raise KeyError(pointer)
    steps: list[str | int] = []
    for raw in pointer.split("/")[1:]:
        name = raw.replace("~1", "/").replace("~0", "~")
        is_index = isinstance(value, list) and name.isascii() and name.isdigit() and len(name) < 10
        steps.append(int(name) if is_index else name)
        value = at_path(value, steps[-1:])
    return tuple(steps)


def readable_path(segments: Sequence[str | int]) -> str:
    """Return the readable form of an assertion's path; "the observation" for the empty one."""
    return path_text(segments) or "the observation"


def scalar_text(value: object) -> str:
    """Return a short one-line form of a value for sentences; the five empty values all look different."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _members(value: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _child(node: JsonNode, label: str | int, item: object) -> JsonNode:
    escaped = str(label).replace("~", "~0").replace("/", "~1")
    return _node(str(label), member_path(node.path, label), f"{node.pointer}/{escaped}", item)


def _node(label: str, path: str, pointer: str, value: object) -> JsonNode:
    if isinstance(value, dict):
        return JsonNode(label, path, pointer, "object", size=len(value))
    if isinstance(value, list):
        return JsonNode(label, path, pointer, "list", size=len(value))
    if isinstance(value, str):
        return JsonNode(label, path, pointer, "text", text=value[:TEXT_SHOWN], size=len(value))
    kind: Kind = "null" if value is None else "boolean" if isinstance(value, bool) else "number"
    return JsonNode(label, path, pointer, kind, text=json.dumps(value))
