"""Addresses that several pages lead to, and the texts that addresses carry."""

from urllib.parse import urlencode

from django.urls import reverse

from reports.text import ESCAPE


def compare_href(baseline: object, candidate: object) -> str:
    """Return the comparison of two sides: a run by its id, a version as ``version:<pk>``."""
    sides = {"baseline": _side(baseline), "candidate": _side(candidate)}
    return f"{reverse('compare')}?{urlencode(sides)}"


def _side(side: object) -> str:
    return str(side).removeprefix("run:")


def from_address(text: str) -> str:
    """Return a text of an address in stored form: it holds the escapes already, and only a NUL can come as itself."""
    return text.replace("\0", f"{ESCAPE}0000")
