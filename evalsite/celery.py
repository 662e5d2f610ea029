"""The Celery app. A message carries only the id of a row; the row is the truth."""

import os

from celery import Celery
from kombu.transport.redis import Channel

from evalsite import task_log

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")

app = Celery("evalsite")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
task_log.connect()

# A worker that loses Redis while a run goes on would give the run's message back over the connection that it has just
# lost, and die of that. Nothing needs the message: the run is claimed, and rows that wait are sent by the dispatcher.
Channel.do_restore = False
