"""Making a run a baseline."""

from django import forms


class BaselineForm(forms.Form):
    name = forms.CharField(max_length=100, label="Name")
    reason = forms.CharField(max_length=2_000, required=False, label="Reason")
    is_default = forms.BooleanField(required=False)
    is_forced = forms.BooleanField(required=False)
