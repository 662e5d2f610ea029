"""Ids and names of the scenario harness, which may be any text, as ids and names that suites allow."""

import hashlib
import re

SUITE_ID = "harness"  # where nobody says otherwise: results do not name what they are results of
ROW = "row"  # id of the assertion that carries a whole row
SUMMARY = "summary"  # id of the run's assertion that carries a summary as it was written
ROW_LABEL = "Recorded by the harness"
PROMPT = "prompt"

_LONGEST_ID = 160
_LONGEST_NAME = 500
_is_id = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*").fullmatch
_not_in_ids = re.compile(r"[^A-Za-z0-9_.:-]+")


def suite_id(text: str) -> str:
    """Return an id for any text: the text itself where it is one, else what is left of it and a part of its hash."""
    if len(text) <= _LONGEST_ID and _is_id(text):
        return text
    rest = _not_in_ids.sub("-", text).lstrip("_.:-")[: _LONGEST_ID - 10] or "id"
    return f"{rest}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def shown_name(text: str) -> str:
    """Return a name for any id; the whole id stands in the scenario's metadata."""
    return cut(text.strip(), _LONGEST_NAME) or "(no id)"


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def step_id(place: int) -> str:
    """Name the step of a message: the prompt is the one at place 0."""
    return f"turn-{place}" if place else PROMPT
