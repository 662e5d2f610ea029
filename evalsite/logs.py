"""Logs for machines: one JSON object a line, without payloads.

What an exception says may quote what somebody sent, so of an exception only its type and the places in the code are
written. One-time sign-in addresses never appear.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from datetime import UTC, datetime
from types import TracebackType

STYLES = ("", "text", "json")
_LONGEST_MESSAGE = 2_000
_MOST_FRAMES = 20

_one_time_address = re.compile(r"(/sign-in/)[^/\s?#\"']+")


def without_secrets(text: str) -> str:
    """Return a text with the tokens of one-time addresses taken out."""
    return _one_time_address.sub(r"\1…", text)


class JsonFormatter(logging.Formatter):
    """``at`` (UTC), ``level``, ``logger``, ``message``, and the members of ``extra={"event": {…}}``."""

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage())[:_LONGEST_MESSAGE],
        }
        event |= getattr(record, "event", {})
        if record.exc_info and record.exc_info[0] is not None:
            event |= _error(record.exc_info[0], record.exc_info[2])
        return json.dumps(event, default=str)


class LineFormatter(logging.Formatter):
    """The same for people: the members of the event follow the message as ``name=value``."""

    def format(self, record: logging.LogRecord) -> str:
        line = without_secrets(super().format(record))
        members = " ".join(f"{name}={value}" for name, value in getattr(record, "event", {}).items())
        return f"{line} {members}" if members else line


def _error(kind: type[BaseException], trace: TracebackType | None) -> dict[str, object]:
    frames = traceback.extract_tb(trace)[-_MOST_FRAMES:]
    return {
        "error": f"{kind.__module__}.{kind.__qualname__}",
        "trace": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


def logging_config(style: str) -> dict[str, object]:
    """Return Django's LOGGING. Without a style warnings alone are written; with one also each request and each job."""
    kind = {"()": "evalsite.logs.JsonFormatter"} if style == "json" else {"()": "evalsite.logs.LineFormatter", **_LINE}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": kind},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {
            "django.request": {"level": "ERROR"},  # a 404 is the reader's news, not the operator's
            "evalsite": {"level": "INFO" if style else "WARNING"},
        },
    }


_LINE = {"format": "{asctime} {levelname} {name} {message}", "style": "{"}
