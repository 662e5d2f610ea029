"""What is looked at when a command of the site starts."""

from typing import Any

from django.core.checks import CheckMessage, Error, register

from reports.runnable import TargetsFileError, runnable_targets


@register
def check_targets_file(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with a targets file that has faults, each named with the path of its key."""
    try:
        runnable_targets()
    except TargetsFileError as error:
        hint = "Mend the file that EVALSITE_TARGETS names; docs/targets.md describes it."
        return [Error(str(fault), hint=hint, id="reports.E001") for fault in error.faults]
    return []
