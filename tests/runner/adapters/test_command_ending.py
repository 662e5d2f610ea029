"""Nothing that a program started outlives its case."""

from __future__ import annotations

import asyncio
import json
import os

import pytest
from evalrunner import EvaluationError
from evalrunner.adapters.command import kill_all_groups

from tests.runner import edge
from tests.runner.adapters.programs import WriteProgram, ask, lives, until

pytestmark = pytest.mark.asyncio

FAMILY = """
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
for message in messages():
    if message["type"] == "turn" and message["input"].get("text") == "hang":
        open("hanging", "w").write(str(child.pid))
        time.sleep(600)
    answer(message, **({"observation": {"pids": [os.getpid(), child.pid]}} if message["type"] == "turn" else {}))
"""


async def test_closing_ends_the_program_and_all_that_it_started(program: WriteProgram) -> None:
    session = await program(FAMILY, term_grace_s=0.3).open(edge.open_context())
    pids = (await ask(session))["pids"]
    assert all(lives(pid) for pid in pids)

    await session.close()

    await until(lambda: not any(lives(pid) for pid in pids))


@pytest.mark.parametrize("how", ["signal", "task"])
async def test_cancelling_a_turn_and_closing_ends_the_whole_family(program: WriteProgram, how: str) -> None:
    adapter = program(FAMILY, term_grace_s=0.3)
    session = await adapter.open(edge.open_context())
    pids = (await ask(session))["pids"]
    signal = asyncio.Event()
    sending = asyncio.create_task(session.send({"text": "hang"}, edge.send_context(signal)))
    assert adapter.folder is not None
    await until((adapter.folder / "hanging").exists)

    if how == "signal":
        signal.set()
    else:
        sending.cancel()
    with pytest.raises(EvaluationError if how == "signal" else asyncio.CancelledError):
        await sending
    await session.close()

    await until(lambda: not any(lives(pid) for pid in pids))


async def test_a_hanging_turn_ends_with_the_time_limit_of_the_run(program: WriteProgram) -> None:
    suite = json.loads(json.dumps(edge.SUITE))
    suite["scenarios"][0]["steps"][0]["input"] = {"text": "hang"}
    adapter = program(FAMILY, term_grace_s=0.3)

    report = await edge.run_small(adapter, suite=suite, timeout_ms=3_000)

    assert adapter.folder is not None
    child = int((adapter.folder / "hanging").read_text())
    assert [turn.error_code for turn in report.cases[0].turns] == ["EVALUATION_TIMEOUT"]
    await until(lambda: not lives(child))


async def test_a_program_that_hangs_while_opening_is_ended(program: WriteProgram) -> None:
    adapter = program('open("pid", "w").write(str(os.getpid())); time.sleep(600)')

    report = await edge.run_small(adapter, timeout_ms=2_000)

    assert adapter.folder is not None
    pid = int((adapter.folder / "pid").read_text())
    assert report.cases[0].error_code == "EVALUATION_TIMEOUT"
    await until(lambda: not lives(pid))


async def test_a_program_is_asked_to_end_before_it_is_killed(program: WriteProgram) -> None:
    adapter = program(
        """
        def tidy_up(*_):
            open("tidied", "w").close()
            sys.exit()
        signal.signal(signal.SIGTERM, tidy_up)
        answer(next(messages()))
        time.sleep(600)
        """,
        close_grace_s=0.1,
    )
    session = await adapter.open(edge.open_context())

    await session.close()

    assert adapter.folder is not None
    assert (adapter.folder / "tidied").exists()


async def test_a_program_that_ignores_everything_is_killed(program: WriteProgram) -> None:
    adapter = program(
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for message in messages():
            answer(message, **({"observation": {"pid": os.getpid()}} if message["type"] == "turn" else {}))
        time.sleep(600)
        """,
        close_grace_s=0.1,
        term_grace_s=0.1,
    )
    session = await adapter.open(edge.open_context())
    pid = (await ask(session))["pid"]

    await session.close()

    await until(lambda: not lives(pid))


async def test_closing_twice_is_harmless(program: WriteProgram) -> None:
    session = await program("answer(next(messages()))").open(edge.open_context())

    await session.close()
    await session.close()


async def test_a_host_that_leaves_at_once_can_kill_everything(program: WriteProgram) -> None:
    session = await program(FAMILY, term_grace_s=0.3).open(edge.open_context())
    pids = (await ask(session))["pids"]

    kill_all_groups()

    await until(lambda: not any(lives(pid) for pid in pids))
    await session.close()


async def test_a_program_that_is_just_being_started_is_killed_as_well(program: WriteProgram) -> None:
    opening = asyncio.create_task(program("time.sleep(600)").open(edge.open_context()))
    await asyncio.sleep(0)  # the program runs now, and asyncio has not yet told its id
    assert not opening.done()

    kill_all_groups()

    async with asyncio.timeout(20):
        assert await edge.code_of(opening) == "COMMAND_EXITED"


async def test_no_signal_of_our_terminal_reaches_the_program(program: WriteProgram) -> None:
    adapter = program(
        """
        for message in messages():
            ids = {"session": os.getsid(0), "group": os.getpgrp(), "pid": os.getpid()}
            answer(message, **({"observation": ids} if message["type"] == "turn" else {}))
        """
    )
    session = await adapter.open(edge.open_context())
    ids = await ask(session)
    await session.close()

    assert ids["session"] == ids["group"] == ids["pid"]
    assert ids["session"] != os.getsid(0)
