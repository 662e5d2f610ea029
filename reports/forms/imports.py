"""The upload form."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from reports.importers.given import LONGEST, Given, read_scenario_text


class _SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class _FilesField(forms.FileField):
    """One or more files; empty ones are left for the importer to refuse by name."""

    widget = _SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> list["UploadedFile[Any]"]:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(_FilesField, self).clean(each, initial) for each in files or [None]]


class ImportForm(forms.Form):
    """Files, and what results of the scenario harness do not say themselves."""

    target = forms.CharField(required=False, max_length=LONGEST)
    fingerprint = forms.CharField(required=False, max_length=LONGEST)
    suite = forms.CharField(required=False, max_length=LONGEST)
    scenario_file = forms.FileField(required=False, allow_empty_file=True)
    report_files = _FilesField(allow_empty_file=True, error_messages={"required": "Choose at least one report file."})

    def given(self) -> Given:
        """Return what was said beside the files. Raises ReportRejected for a scenario file that cannot be read."""
        said = self.cleaned_data
        text = read_scenario_text(said["scenario_file"])
        return Given(said["target"], said["fingerprint"], said["suite"], text)
