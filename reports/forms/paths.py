"""Paths into JSON values, as an address gives them."""

from django import forms
from evalrunner.compare import parse_path
from evalrunner.errors import PathTextError

_LONGEST = 2_000


class PathField(forms.CharField):
    """A path as ``evalrunner.compare.path_text`` writes it. Cleaned it is a tuple of steps, () for the whole value."""

    def __init__(self, *, required: bool) -> None:
        super().__init__(required=required, max_length=_LONGEST, strip=False)

    def clean(self, value: object) -> tuple[str | int, ...]:
        text = str(super().clean(value))
        try:
            return parse_path(text)
        except PathTextError as error:
            raise forms.ValidationError(str(error)) from None
