"""Wiring at start: the Celery app is loaded, so that `celery.current_app` is ours in every process."""

from importlib import import_module

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "evalsite"

    def ready(self) -> None:
        import_module("evalsite.celery")
