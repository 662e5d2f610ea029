"""What comes along with an import: as parameters of the address, or as fields of the form that holds the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.http import HttpRequest

from reports.api.problems import Problem
from reports.importers.given import LONGEST, Given, read_scenario_text

TOLD: Final = ("target", "fingerprint", "suite")
SCENARIOS: Final = "scenarios"


def is_form(request: HttpRequest) -> bool:
    return request.content_type == "multipart/form-data"


def given_with(request: HttpRequest, asked: Mapping[str, str]) -> Given:
    """Return what was said beside the file, ``asked`` in the address.

    A field that is not known, not of its kind, or contradicts the address is refused by its name: what is not
    understood must not be left out silently. Raises Problem, and ReportRejected for a scenario file that is no text.
    """
    fields = _fields(request) if is_form(request) else {}
    said = {name: (fields.get(name) or asked.get(name) or "").strip() for name in TOLD}
    faults = [
        (f"body.{name}", "says something else than the address")
        for name in TOLD
        if fields.get(name) and asked.get(name) and fields[name].strip() != asked[name].strip()
    ]
    faults += [(f"body.{name}", f"has more than {LONGEST} characters") for name in TOLD if len(said[name]) > LONGEST]
    _refuse(faults)
    return Given(**said, scenarios=read_scenario_text(request.FILES.get(SCENARIOS)) if is_form(request) else "")


def _fields(request: HttpRequest) -> dict[str, str]:
    """Return the fields of a form that are no files, each once and known."""
    faults = []
    for name, values in request.POST.lists():
        if name == SCENARIOS:
            faults.append((f"body.{name}", "must be a file"))
        elif name not in TOLD:
            faults.append((f"body.{name[:100]}", "is no field of this form"))
        elif len(values) > 1:
            faults.append((f"body.{name}", "is there more than once"))
    _refuse(faults)
    return {name: str(request.POST[name]) for name in TOLD if name in request.POST}


def _refuse(faults: list[tuple[str, str]]) -> None:
    if faults:
        place, reason = faults[0]
        raise Problem(422, "parameters_invalid", f"{place} {reason}.", faults[:20])
