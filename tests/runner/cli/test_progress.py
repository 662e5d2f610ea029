"""What is shown of a run that goes on."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from evalrunner.cli.progress import Progress, case_outcome, printable
from evalrunner.models import EvaluationReport

from tests.runner import edge

pytestmark = pytest.mark.asyncio


class EchoAdapter:
    id, version = "echo", "1"

    async def open(self, context: object) -> EchoAdapter:
        return self

    async def send(self, input: dict[str, object], context: object) -> dict[str, object]:
        return {"observation": input}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


async def shown_on(stream: io.StringIO, *, repetitions: int) -> EvaluationReport:
    progress = Progress(stream)
    report = await edge.run_small(EchoAdapter(), repetitions=repetitions, on_checkpoint=progress.update)
    progress.close()
    return report


async def test_a_large_run_writes_about_a_hundred_lines() -> None:
    stream = io.StringIO()

    def scenario(number: int) -> dict[str, object]:
        return edge.SCENARIO | {"id": f"talk-{number}"}

    suite = edge.SUITE | {"scenarios": [scenario(number) for number in range(10)]}
    progress = Progress(stream)
    await edge.run_small(EchoAdapter(), suite=suite, repetitions=50, on_checkpoint=progress.update)

    lines = stream.getvalue().splitlines()
    assert len(lines) == 100
    assert lines[-1] == "500/500 talk-9 #50: passed"


async def test_a_terminal_gets_one_line_that_is_drawn_again() -> None:
    stream = Terminal()

    await shown_on(stream, repetitions=3)

    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().rstrip("\n").rpartition("\x1b[K")[2].startswith(f"[{'#' * 30}] 3/3 0:0")


async def test_a_reader_that_has_gone_does_not_end_the_run() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    report = await shown_on(Gone(), repetitions=1)

    assert report.summary.passed == 1


async def test_codes_from_outside_cannot_steer_the_terminal() -> None:
    report = await edge.run_small(EchoAdapter())
    case = replace(report.cases[0], error_code="\x1b[2J\nX")

    assert case_outcome(case) == "passed (\\x1b[2J\\x0aX)"
    assert printable("Grüße") == "Grüße"
