"""What changed between two definitions of a scenario, member by member; lists of things with ids are matched by id."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from evalrunner.compare import member_path

from reports.domain.json_tree import scalar_text

MOST_CHANGES = 40
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class MemberChange:
    """One change: ``path`` reads like ``steps[ask].input.text``; before or after is empty where there was nothing."""

    kind: Literal["changed", "added", "removed"]
    path: str
    before: str
    after: str


def member_changes(before: object, after: object) -> tuple[MemberChange, ...]:
    """Return the first MOST_CHANGES differences of two JSON values, in the order of the members."""
    return tuple(islice(_differences("", before, after), MOST_CHANGES))


def _differences(path: str, before: object, after: object) -> Iterator[MemberChange]:
    if _is_same(before, after):
        return
    members = _paired_members(path, before, after)
    if members is None:
        yield _change(path, before, after)
        return
    for inner, old, new in members:
        yield from _differences(inner, old, new)


def _is_same(before: object, after: object) -> bool:
    """1 and true are equal to Python and different things in a definition."""
    return before == after and json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


def _paired_members(path: str, before: object, after: object) -> list[tuple[str, object, object]] | None:
    if isinstance(before, dict) and isinstance(after, dict):
        names = dict.fromkeys([*before, *after])
        return [(member_path(path, name), before.get(name, _ABSENT), after.get(name, _ABSENT)) for name in names]
    old, new = _by_id(before), _by_id(after)
    if old is None or new is None:
        return None
    names = dict.fromkeys([*old, *new])
    pairs = [(f"{path}[{name}]", old.get(name, _ABSENT), new.get(name, _ABSENT)) for name in names]
    common_old, common_new = [each for each in old if each in new], [each for each in new if each in old]
    if common_old != common_new:
        pairs.append((f"order of {path}", common_old, common_new))
    return pairs


def _by_id(value: object) -> Mapping[str, Any] | None:
    """Return a list's items by their ids; None where it is no list of things with ids of their own."""
    if not isinstance(value, list):
        return None
    if not all(isinstance(item, dict) and isinstance(item.get("id"), str) for item in value):
        return None
    items = {item["id"]: item for item in value}
    return items if len(items) == len(value) else None


def _change(path: str, before: object, after: object) -> MemberChange:
    kind: Literal["changed", "added", "removed"] = (
        "added" if before is _ABSENT else "removed" if after is _ABSENT else "changed"
    )
    return MemberChange(
        kind,
        path or "the scenario",
        "" if before is _ABSENT else scalar_text(before),
        "" if after is _ABSENT else scalar_text(after),
    )
