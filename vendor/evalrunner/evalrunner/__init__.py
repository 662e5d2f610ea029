"""Evaluate conversational agents: suites, assertions, an asyncio runner and portable reports."""

from evalrunner.canonical import digest
from evalrunner.cases import expand_cases
from evalrunner.errors import EvaluationError
from evalrunner.reports import parse_evaluation_report
from evalrunner.suites import parse_evaluation_suite

__all__ = [
    "EvaluationError",
    "digest",
    "expand_cases",
    "parse_evaluation_report",
    "parse_evaluation_suite",
]
