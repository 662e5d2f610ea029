"""Assertions on evidence: path look-up, operators, composites and custom evaluators."""

from evalrunner.assertions.context import EvaluationContext, Evaluator, Evaluators, Signal
from evalrunner.assertions.evaluate import evaluate_all, evaluate_assertions, verdict

__all__ = [
    "EvaluationContext",
    "Evaluator",
    "Evaluators",
    "Signal",
    "evaluate_all",
    "evaluate_assertions",
    "verdict",
]
