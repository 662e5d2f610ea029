"""The Celery app. A message carries only the id of a row; the row is the truth."""

import os

from celery import Celery

from evalsite import task_log

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")

app = Celery("evalsite")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
task_log.connect()
