"""Addresses of the parts of a case: its JSON, and the case opened at a path of it."""

import uuid
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from django.urls import reverse

from reports.domain.anchors import OBSERVATION, part_anchor, path_anchor, turn_anchor
from reports.models import Run

CASE_PARTS = ("case", "scenario")
TURN_PARTS = (OBSERVATION, "input", "checkpoint", "assertions")


def raw_href(run: Run, position: int, part: str, pointer: str = "") -> str:
    """Return the address of the raw JSON of a part: "case", or a turn's place and member ("3.observation")."""
    query = {"part": part} | ({"pointer": pointer} if pointer else {})
    return f"{reverse('case-raw', args=[run.pk, position])}?{urlencode(query, errors='surrogatepass')}"


@dataclass(frozen=True, slots=True)
class PathLinks:
    """Makes the addresses of paths in one part: ``owner`` begins their anchors, ``base`` ends with ``path=``."""

    owner: str
    base: str

    def anchor(self, path: str) -> str:
        return path_anchor(self.owner, path)

    def href(self, path: str) -> str:
        """Return the address that opens the case at a path (as ``evalrunner.compare.path_text`` writes it)."""
        return f"{self.base}{quote(path, safe='[].$')}#{self.anchor(path)}"


def path_links(run: uuid.UUID, position: int, part: str, turn: int | None = None) -> PathLinks:
    """Return the links of a part of a case, or of one of a turn (counted from 1)."""
    query = {"turn": str(turn)} if turn is not None else {}
    if part != OBSERVATION:
        query["part"] = part
    owner = part if turn is None else part_anchor(turn_anchor(turn), part)
    return PathLinks(owner, f"{reverse('case', args=[run, position])}?{urlencode({**query, 'path': ''})}")
