"""What the address of a comparison may ask."""

from django import forms

from reports.forms.paths import PathField
from reports.forms.texts import StoredTextField
from reports.selectors.compare_case import Asked
from reports.selectors.compare_filters import CLASSES, STATUSES, RowFilters

_MOST = 1_000_000_000
_KEY = r"^[0-9a-f]{32}$"


class ComparisonForm(forms.Form):
    """Sides and filters. ``class``, ``from`` and ``to`` cannot be attribute names, so the fields are added by name."""

    baseline = forms.CharField(required=False, max_length=200)
    candidate = forms.CharField(required=False, max_length=200)
    suite = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    tag = StoredTextField(strip=False)
    q = StoredTextField()
    signature = forms.RegexField(_KEY, required=False)
    scenario = forms.RegexField(_KEY, required=False)
    after = forms.RegexField(_KEY, required=False)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # handed through as they came
        self.fields["class"] = _choice(CLASSES)
        self.fields["from"] = _choice(STATUSES)
        self.fields["to"] = _choice(STATUSES)

    def text(self, name: str) -> str:
        """Return a valid member of the address; "" where it is absent or was not understood."""
        return str(self.cleaned_data.get(name) or "")

    def suite_pk(self) -> int:
        return int(self.cleaned_data.get("suite") or 0)

    def filters(self) -> RowFilters:
        return RowFilters(
            only=self.text("class"),
            tag=self.text("tag"),
            text=self.text("q"),
            before=self.text("from"),
            after=self.text("to"),
            signature=self.text("signature"),
            scenario=self.text("scenario"),
        )

    def faults(self) -> tuple[str, ...]:
        """Say in words which members of the address were not understood."""
        return tuple(f"“{name}” in the address was not understood and is left out." for name in self.errors)


class SideBySideForm(ComparisonForm):
    """One scenario variant of a comparison, repetitions and turn to show; the filter leads to its neighbours."""

    variant = forms.RegexField(_KEY, required=False)
    b = forms.IntegerField(required=False, min_value=1, max_value=_MOST)
    c = forms.IntegerField(required=False, min_value=1, max_value=_MOST)
    turn = forms.RegexField(r"^(left-)?[1-9][0-9]{0,8}$", required=False)
    path = PathField(required=False)

    def asked(self) -> Asked:
        given = self.cleaned_data
        turn, path = given.get("turn") or "", given.get("path")
        has_path = turn and path is not None and "path" in self.data
        return Asked(int(given.get("b") or 0), int(given.get("c") or 0), turn, path if has_path else None)


def _choice(names: tuple[str, ...]) -> forms.ChoiceField:
    return forms.ChoiceField(required=False, choices=[(name, name) for name in ("", *names)])
