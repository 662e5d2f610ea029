"""Texts that an address looks for in names."""

from typing import Any

from django import forms
from django.core.validators import ProhibitNullCharactersValidator

from reports.text import storable_once

_LONGEST = 2_000


class StoredTextField(forms.CharField):
    """A text to be looked for; cleaned it is in stored form.

    NUL is a character like any other here, as over the API: to leave the filter out would show everything.
    """

    def __init__(self, *, strip: bool = True) -> None:
        super().__init__(required=False, max_length=_LONGEST, strip=strip)
        self.validators = [each for each in self.validators if not isinstance(each, ProhibitNullCharactersValidator)]

    def clean(self, value: Any) -> str:
        return storable_once(str(super().clean(value)))
