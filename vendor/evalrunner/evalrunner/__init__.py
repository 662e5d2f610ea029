"""Evaluate conversational agents: suites, assertions, an asyncio runner and portable reports."""

from evalrunner.canonical import digest
from evalrunner.errors import EvaluationError
from evalrunner.suites import parse_evaluation_suite

__all__ = ["EvaluationError", "digest", "parse_evaluation_suite"]
