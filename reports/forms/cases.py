"""What the address of a run or case page may ask of its cases."""

from typing import Any

from django import forms

from reports.forms.paths import PathField
from reports.forms.texts import StoredTextField
from reports.models import CASE_STATUSES
from reports.pages.case_place import AskedPath
from reports.pages.path_links import CASE_PARTS, TURN_PARTS
from reports.selectors.run import ORDERS, CaseFilters


class CaseFilterForm(forms.Form):
    """Filters of the cases table: ``status``, ``signature``, ``variant``, ``tag``, ``q``, ``order``, ``after``."""

    status = forms.ChoiceField(
        required=False, choices=[(name, name) for name in ("", "failures", "undecided", *CASE_STATUSES)]
    )
    signature = forms.RegexField(r"^[0-9a-f]{32}$", required=False)
    variant = forms.RegexField(r"^[0-9a-f]{32}$", required=False)
    tag = StoredTextField(strip=False)
    q = StoredTextField()
    order = forms.ChoiceField(required=False, choices=[(name, name) for name in ("", *ORDERS)])
    after = forms.CharField(required=False, max_length=2_000)
    turn = forms.IntegerField(required=False, min_value=1, max_value=100_000)
    part = forms.ChoiceField(required=False, choices=[(name, name) for name in ("", *TURN_PARTS, *CASE_PARTS)])
    path = PathField(required=False)

    def asked_path(self) -> AskedPath | None:
        """Return the place to be opened; None where none is asked."""
        given: dict[str, Any] = self.cleaned_data
        part = given.get("part") or TURN_PARTS[0]
        if "path" not in self.data or given.get("path") is None or "part" in self.errors:
            return None
        turn = None if part in CASE_PARTS else int(given.get("turn") or 1)
        return AskedPath(part, turn, given["path"])

    def filters(self) -> CaseFilters:
        """Return the valid filters; what cannot be read asks for nothing."""
        given: dict[str, Any] = self.cleaned_data
        return CaseFilters(
            status=given.get("status") or "",
            signature=given.get("signature") or "",
            variant=given.get("variant") or "",
            tag=given.get("tag") or "",
            text=given.get("q") or "",
            order=given.get("order") or "place",
        )

    def faults(self) -> tuple[str, ...]:
        """Say in words which members of the address were not understood."""
        return tuple(f"“{name}” in the address was not understood and is left out." for name in self.errors)
