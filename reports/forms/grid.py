"""What the address of a grid may ask."""

from django import forms

from reports.forms.texts import StoredTextField
from reports.pages.grid_filters import ONLY, SORTS, GridFilters
from reports.selectors.grid import VERSIONS


class GridForm(forms.Form):
    """``suite``, ``versions`` (columns), ``sort``, ``all``, ``only``, ``q``, ``tag``, ``unfold``, ``start`` (a row)."""

    suite = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    versions = forms.TypedChoiceField(
        required=False, coerce=int, empty_value=None, choices=[(number, number) for number in VERSIONS]
    )
    sort = forms.ChoiceField(required=False, choices=SORTS)
    all = forms.BooleanField(required=False)
    only = forms.ChoiceField(required=False, choices=ONLY)
    q = StoredTextField()
    tag = StoredTextField(strip=False)
    unfold = forms.BooleanField(required=False)
    start = forms.IntegerField(required=False, min_value=0, max_value=10_000_000)

    def filters(self) -> GridFilters:
        """Return the valid filters; what cannot be read asks for nothing."""
        given = self.cleaned_data
        return GridFilters(
            suite=given.get("suite") or 0,
            versions=given.get("versions") or VERSIONS[1],
            sort=given.get("sort") or "broke",
            is_all=bool(given.get("all")),
            only=given.get("only") or "",
            text=given.get("q") or "",
            tag=given.get("tag") or "",
            start=given.get("start") or 0,
            is_unfolded=bool(given.get("unfold")),
        )
