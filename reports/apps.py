"""The app: what is stored, imported, compared, run and shown."""

from importlib import import_module

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "reports"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("reports.checks")  # its checks register themselves
