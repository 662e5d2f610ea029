"""Evaluate conversational agents: suites, assertions, an asyncio runner and portable reports."""

from evalrunner.adapters.agent import AgentEvaluationAdapter
from evalrunner.adapters.base import EvaluationAdapter, EvaluationSession, OpenContext, SendContext, SendResult
from evalrunner.assertions import EvaluationContext, evaluate_assertions
from evalrunner.canonical import digest
from evalrunner.cases import expand_cases
from evalrunner.errors import EvaluationError
from evalrunner.events import EvaluationCheckpoint, EventCollector, EventType, RunEvent
from evalrunner.reports import parse_evaluation_report
from evalrunner.runner import run_evaluation
from evalrunner.suites import parse_evaluation_suite

__all__ = [
    "AgentEvaluationAdapter",
    "EvaluationAdapter",
    "EvaluationCheckpoint",
    "EvaluationContext",
    "EvaluationError",
    "EvaluationSession",
    "EventCollector",
    "EventType",
    "OpenContext",
    "RunEvent",
    "SendContext",
    "SendResult",
    "digest",
    "evaluate_assertions",
    "expand_cases",
    "parse_evaluation_report",
    "parse_evaluation_suite",
    "run_evaluation",
]
