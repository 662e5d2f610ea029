"""Writing a note."""

from django import forms

from reports.models import Note
from reports.services.note_checks import NoteContent

_KEY = r"^[0-9a-f]{32}$"
_LARGEST = 2**31 - 1


class NoteForm(forms.Form):
    state = forms.ChoiceField(choices=Note.State.choices)
    text = forms.CharField(required=False, max_length=10_000)
    link = forms.CharField(required=False, max_length=2_000)
    owner = forms.CharField(required=False, max_length=200)
    expires_on = forms.DateField(required=False, input_formats=["%Y-%m-%d"])
    first_version = forms.IntegerField(required=False, min_value=1, max_value=_LARGEST)
    last_version = forms.IntegerField(required=False, min_value=1, max_value=_LARGEST)
    every_failure = forms.BooleanField(required=False)
    each = forms.BooleanField(required=False)
    learn = forms.BooleanField(required=False)
    opened_at = forms.CharField(required=False, max_length=40)

    def content(self) -> NoteContent:
        given = {name: self.cleaned_data[name] for name in NoteContent.__dataclass_fields__}
        return NoteContent(**given)

    def faults(self) -> tuple[str, ...]:
        """Say in words which fields were not understood."""
        names = {
            "state": "Choose a state.",
            "expires_on": "The last day is written as 2026-03-31.",
            "text": "The text is too long.",
        }
        return tuple(names.get(name, f"“{name}” was not understood.") for name in self.errors)


class SourceForm(forms.Form):
    """Where a note is written from: a run or a version, or neither."""

    run = forms.UUIDField(required=False)
    version = forms.IntegerField(required=False, min_value=1, max_value=_LARGEST)


class AboutForm(SourceForm):
    """What the address of a new note names: a scenario variant or a signature of a target, and where it came from."""

    target = forms.IntegerField(min_value=1, max_value=_LARGEST)
    variant = forms.RegexField(_KEY, required=False)
    signature = forms.RegexField(_KEY, required=False)
