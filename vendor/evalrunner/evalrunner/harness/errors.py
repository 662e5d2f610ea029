"""Errors of the scenario harness, one tree:

    HarnessError              what befalls one row as a whole; its text replaces the row
    HarnessSetupError         the run cannot be carried out: its text is a sentence for standard error
    ├── ScenarioParseError    a line of a scenario file, with its number
    ├── ReportParseError      a report file that is none ("json error: …")
    └── ConfigError           a configuration that cannot be used ("config error: …")
    TurnError                 a turn that ended in an error; the runtime's text, unchanged
    └── ModelError            the request to the model failed ("model error: …")
    ToolError                 a tool call that failed; its text goes to the model and into the event

A row that does not pass is a result, never an exception.
"""

from __future__ import annotations


class HarnessError(Exception):
    """One row cannot be judged: an invalid pattern, or a session that cannot be opened or read."""


class HarnessSetupError(Exception):
    """The command cannot be carried out; the text says why."""


class ScenarioParseError(HarnessSetupError):
    """A line of a scenario file is no scenario; ``line`` counts physical lines from 1."""

    def __init__(self, line: int, detail: str) -> None:
        self.line, self.detail = line, detail
        super().__init__(f"scenario parse error on line {line}: {detail}")


class ReportParseError(HarnessSetupError):
    """A file is no report of this harness."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"json error: {detail}")


class ConfigError(HarnessSetupError):
    """The configuration cannot be read or used."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"config error: {detail}")


class TurnError(Exception):
    """A turn ended in an error."""


class ModelError(TurnError):
    """A request to the model failed; made from the bare reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"model error: {reason}")


class ToolError(Exception):
    """A tool call started and failed."""
