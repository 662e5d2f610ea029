"""The scenario harness: rows of a JSONL file, run against an agent, judged, added up and compared."""

from evalrunner.harness.comparison import compare_reports, parse_report
from evalrunner.harness.errors import (
    ConfigError,
    HarnessError,
    HarnessSetupError,
    ReportParseError,
    ScenarioParseError,
    TurnError,
)
from evalrunner.harness.expectations import evaluate_expectations
from evalrunner.harness.figures import fold_events
from evalrunner.harness.permissions import decide_permission
from evalrunner.harness.scenarios import Scenario, parse_scenarios, read_scenarios, select_scenarios
from evalrunner.harness.summary import summarize
from evalrunner.harness.tool_effects import classify_tool

__all__ = [
    "ConfigError",
    "HarnessError",
    "HarnessSetupError",
    "ReportParseError",
    "Scenario",
    "ScenarioParseError",
    "TurnError",
    "classify_tool",
    "compare_reports",
    "decide_permission",
    "evaluate_expectations",
    "fold_events",
    "parse_report",
    "parse_scenarios",
    "read_scenarios",
    "select_scenarios",
    "summarize",
]
