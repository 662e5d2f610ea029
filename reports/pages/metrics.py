"""The site's numbers in the text format of Prometheus, version 0.0.4.

Written here and not by the client library: that one counts in each process and needs files to add processes up, while
every number of ours comes out of the database they share.
Source: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

import django

from reports.selectors.operations import OperatingNumbers

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Sample = tuple[Mapping[str, str], float]


def metrics_text(numbers: OperatingNumbers, *, worker_seen_s: float | None) -> str:
    """Return all metrics; that of the worker is left out while none was ever seen."""
    lines = [
        *_gauge("build_info", "Versions that run; always 1.", [(_versions(), 1)]),
        *_gauge("runs", "Runs by status.", _by("status", numbers.runs)),
        *_gauge("queue_length", "Runs that wait for a worker.", _one(numbers.runs["queued"])),
        *_gauge("queue_oldest_seconds", "Age of the run that waits longest.", _one(numbers.oldest_queued_s)),
        *_gauge("running_executions", "Runs that a worker holds.", _one(numbers.running_executions)),
        *_gauge(
            "shards",
            "Shards of runs by state, those that wait and those that a worker holds.",
            _by("state", numbers.shards),
        ),
        *_gauge("expired_leases", "Runs and shards whose worker shows no sign of life.", _one(numbers.expired_leases)),
        *_gauge("import_jobs", "Background imports by state.", _by("state", numbers.import_jobs)),
        *_gauge("import_oldest_seconds", "Age of the import that waits longest.", _one(numbers.oldest_import_s)),
    ]
    if worker_seen_s is not None:
        lines += _gauge("worker_seen_seconds", "Time since any worker showed that it lives.", _one(worker_seen_s))
    return "".join(f"{line}\n" for line in lines)


def _gauge(name: str, help_text: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP evalsite_{name} {help_text}"
    yield f"# TYPE evalsite_{name} gauge"
    for labels, value in samples:
        inner = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        yield f"evalsite_{name}{f'{{{inner}}}' if inner else ''} {value:.15g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _one(value: float) -> list[Sample]:
    return [({}, value)]


def _by(label: str, counts: Mapping[str, int]) -> list[Sample]:
    return [({label: name}, number) for name, number in counts.items()]


@lru_cache(maxsize=1)
def _versions() -> Mapping[str, str]:
    try:
        own = version("evalsite")
    except PackageNotFoundError:  # run from a folder that was never installed
        own = "unknown"
    return {"version": own, "python": platform.python_version(), "django": django.get_version()}
