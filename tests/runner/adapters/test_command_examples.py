"""The examples of the command adapter, in Python and JavaScript, as real processes."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from evalrunner import run_evaluation
from evalrunner.adapters.command import CommandAdapter
from evalrunner.examples import command_agent
from evalrunner.examples.catalogue import evaluators

from tests.runner import edge

pytestmark = pytest.mark.asyncio

JAVASCRIPT = Path(command_agent.__file__).with_suffix(".mjs")
EXAMPLES = [["python", command_agent.__file__], ["node", str(JAVASCRIPT)]]


def example(argv: list[str], *arguments: str, **options: Any) -> CommandAdapter:
    found = shutil.which(argv[0]) if argv[0] != "python" else sys.executable
    assert found is not None, f"{argv[0]} is needed for this test"
    return CommandAdapter([found, *argv[1:], *arguments], **options)


@pytest.mark.parametrize("argv", EXAMPLES, ids=["python", "javascript"])
@pytest.mark.parametrize(("arguments", "passed"), [([], 4), (["--wrong-selection"], 2)])
async def test_the_tutorial_runs_as_a_command(argv: list[str], arguments: list[str], passed: int) -> None:
    report = await run_evaluation(
        suite=json.loads(edge.CATALOGUE_SUITE.read_text()),
        target=edge.TARGET,
        adapter=example(argv, *arguments),
        evaluators=evaluators,
        concurrency=2,
    )

    assert (report.summary.passed, report.summary.failed) == (passed, 4 - passed)


@pytest.mark.parametrize("argv", EXAMPLES, ids=["python", "javascript"])
async def test_the_examples_go_on_from_a_checkpoint(argv: list[str]) -> None:
    suite = json.loads(edge.CATALOGUE_SUITE.read_text())
    suite["scenarios"] = suite["scenarios"][:1]
    options: dict[str, Any] = {"suite": suite, "evaluators": evaluators}
    adapter = example(argv, supports_resume=True)
    cancelled = await edge.run_until_second_turn(adapter, **options)

    report = await edge.run_small(adapter, **options, resume=cancelled.to_data())

    assert [len(case.turns) for case in cancelled.cases] == [1, 0]
    assert [case.status for case in report.cases] == ["passed", "passed"]


@pytest.mark.parametrize("argv", EXAMPLES, ids=["python", "javascript"])
async def test_the_examples_answer_what_they_do_not_know_with_a_code(argv: list[str]) -> None:
    report = await edge.run_small(example(argv))

    assert [turn.error_code for turn in report.cases[0].turns] == ["CATALOGUE_INPUT_UNKNOWN"]
