"""Addresses that open a case at a JSON path."""

import uuid
from urllib.parse import urlencode

from django.urls import reverse

from reports.domain.anchors import OBSERVATION, part_anchor, path_anchor, turn_anchor


def turn_path_href(run: uuid.UUID, position: int, turn: int, part: str, path: str) -> str:
    """Return the address of a path in a part of a turn (counted from 1), opened and in sight."""
    query = {"turn": str(turn), "part": part, "path": path}
    if part == OBSERVATION:
        del query["part"]
    anchor = path_anchor(part_anchor(turn_anchor(turn), part), path)
    return f"{reverse('case', args=[run, position])}?{urlencode(query)}#{anchor}"


def case_path_href(run: uuid.UUID, position: int, part: str, path: str) -> str:
    """Return the address of a path in the case or in the definition of its scenario."""
    query = urlencode({"part": part, "path": path})
    return f"{reverse('case', args=[run, position])}?{query}#{path_anchor(part, path)}"
