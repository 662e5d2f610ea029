"""How the web server runs: processes of threads, since an answer that is streamed holds a thread.

Requests are logged by the site itself (EVALSITE_LOG); gunicorn's own messages follow the same form.
"""

import os
from pathlib import Path

worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = int(os.environ.get("WEB_THREADS", "4"))
graceful_timeout = 30  # seconds for requests under way when the server is asked to stop
max_requests, max_requests_jitter = 20_000, 2_000
control_socket_disable = True
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # heartbeats must not wait for a disk
loglevel = "info" if os.environ.get("EVALSITE_LOG") else "warning"

if os.environ.get("EVALSITE_LOG") == "json":
    logconfig_dict = {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"generic": {"()": "evalsite.logs.JsonFormatter"}},
        "handlers": {"error_console": {"class": "logging.StreamHandler", "formatter": "generic"}},
        "root": {"level": "WARNING", "handlers": ["error_console"]},
        "loggers": {"gunicorn.error": {"handlers": ["error_console"], "propagate": False}},
    }
