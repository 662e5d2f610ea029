"""The upload form."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile


class _SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class _FilesField(forms.FileField):
    """One or more files; empty ones are left for the importer to refuse by name."""

    widget = _SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> list["UploadedFile[Any]"]:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(_FilesField, self).clean(each, initial) for each in files or [None]]


class ImportForm(forms.Form):
    report_files = _FilesField(allow_empty_file=True, error_messages={"required": "Choose at least one report file."})
