"""The command adapter, with real processes in Python and JavaScript."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evalrunner import EvaluationError, run_evaluation
from evalrunner.adapters.command import CommandAdapter, CommandSession, kill_all_groups
from evalrunner.errors import AdapterSetupError
from evalrunner.examples import command_agent
from evalrunner.examples.catalogue import evaluators

from tests.runner import edge

pytestmark = pytest.mark.asyncio

JAVASCRIPT = Path(command_agent.__file__).with_suffix(".mjs")
EXAMPLES = [["python", command_agent.__file__], ["node", str(JAVASCRIPT)]]

PREAMBLE = """
import json, os, signal, subprocess, sys, time

def messages():
    for line in sys.stdin:
        yield json.loads(line)

def answer(message, **members):
    print(json.dumps({"seq": message["seq"], **members}), flush=True)
"""

WriteProgram = Callable[..., CommandAdapter]


@pytest.fixture
def program(tmp_path: Path) -> WriteProgram:
    """Write a Python program and give the adapter for it; the program runs in an empty folder of its own."""

    def write(source: str, *arguments: str, **options: Any) -> CommandAdapter:
        path = tmp_path / "agent.py"
        path.write_text(PREAMBLE + textwrap.dedent(source))
        return CommandAdapter([sys.executable, "-S", str(path), *arguments], folder=tmp_path, **options)

    return write


def example(argv: list[str], *arguments: str, **options: Any) -> CommandAdapter:
    found = shutil.which(argv[0]) if argv[0] != "python" else sys.executable
    assert found is not None, f"{argv[0]} is needed for this test"
    return CommandAdapter([found, *argv[1:], *arguments], **options)


async def turn_code(adapter: CommandAdapter) -> str | None:
    session = await adapter.open(edge.open_context())
    code = await edge.code_of(session.send({"text": "hello"}, edge.send_context()))
    await session.close()
    return code


def lives(pid: int) -> bool:
    """Tell whether a process still does anything; a zombie that nobody has collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 (a foreign process tells nobody that it ended)
            await asyncio.sleep(0.01)


async def ask(session: CommandSession) -> Any:
    return (await session.send({"text": "hello"}, edge.send_context()))["observation"]


# -------------------------------------------------------------------------------------------------------- the examples


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


# -------------------------------------------------------------------------------------------------------- the contract


async def test_open_turn_and_close_are_one_line_each_with_the_documented_members(program: WriteProgram) -> None:
    adapter = program(
        """
        for message in messages():
            print(json.dumps(message), file=open("seen", "a"))
            answer(message, **({"observation": {"text": "hi"}} if message["type"] == "turn" else {}))
        """
    )
    session = await adapter.open(edge.open_context({"at": 3}))
    result = await session.send({"text": "two\nlines \ud800"}, edge.send_context())
    await session.close()

    assert adapter.folder is not None
    seen = [json.loads(line) for line in (adapter.folder / "seen").read_text().splitlines()]
    ids = {"runId": "run-1", "caseId": "case-1", "threadId": "thread-1"}
    scenario = {
        "id": "talk",
        "name": "Talk",
        "tags": ["smoke"],
        "metadata": {"language": "en"},
        "writePolicy": "read_only",
    }
    turn = {"turnId": "turn-1", "stepId": "ask", "input": {"text": "two\nlines \ud800"}}
    assert result == {"observation": {"text": "hi"}}
    assert seen == [
        {"type": "open", "protocol": 1, **ids, "scenario": scenario, "checkpoint": {"at": 3}, "seq": 1},
        {"type": "turn", **ids, **turn, "seq": 2},
        {"type": "close", **ids, "seq": 3},
    ]


async def test_every_case_has_a_process_of_its_own_and_its_turns_share_it(program: WriteProgram) -> None:
    adapter = program(
        """
        for message in messages():
            answer(message, **({"observation": {"text": "", "pid": os.getpid()}} if message["type"] == "turn" else {}))
        """
    )

    report = await edge.run_small(adapter, repetitions=3, concurrency=3)

    cases: Any = report.to_data()["cases"]
    pids: list[set[int]] = [{turn["observation"]["pid"] for turn in case["turns"]} for case in cases]
    assert [len(of_case) for of_case in pids] == [1, 1, 1]
    assert len(set.union(*pids)) == 3
    assert not any(lives(pid) for pid in set.union(*pids))


async def test_the_program_sees_only_the_base_variables_and_those_named(
    program: WriteProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "LANG", "TMPDIR", "AGENT_KEY", "OTHER_KEY"):
        monkeypatch.setenv(name, f"value of {name}")
    adapter = program(
        """
        for message in messages():
            answer(message, **({"observation": dict(os.environ)} if message["type"] == "turn" else {}))
        """,
        pass_environment=["AGENT_KEY", "NOT_SET"],
    )
    session = await adapter.open(edge.open_context())
    seen = await ask(session)
    await session.close()

    # LC_CTYPE is what Python itself may put into its environment at the start.
    assert set(seen) - {"LC_CTYPE"} == {"PATH", "HOME", "LANG", "TMPDIR", "AGENT_KEY"}
    assert seen["AGENT_KEY"] == "value of AGENT_KEY"


async def test_arguments_reach_the_program_without_any_shell(program: WriteProgram) -> None:
    arguments = ["$HOME", "; touch made", "a b", "*"]
    adapter = program(
        """
        for message in messages():
            answer(message, **({"observation": {"argv": sys.argv[1:]}} if message["type"] == "turn" else {}))
        """,
        *arguments,
    )
    session = await adapter.open(edge.open_context())
    seen = await ask(session)
    await session.close()

    assert adapter.folder is not None
    assert seen == {"argv": arguments}
    assert not (adapter.folder / "made").exists()


async def test_standard_error_neither_blocks_nor_reaches_the_report(program: WriteProgram) -> None:
    adapter = program(
        """
        for message in messages():
            sys.stderr.write("secret=sesame " * 100_000)
            sys.stderr.flush()
            answer(message, **({"observation": {"text": "hi"}} if message["type"] == "turn" else {}))
        """
    )

    report = await edge.run_small(adapter)

    assert report.cases[0].status == "passed"
    assert "sesame" not in json.dumps(report.to_data())


async def test_standard_error_is_shown_when_the_host_asks_for_it(
    program: WriteProgram, capfd: pytest.CaptureFixture[str]
) -> None:
    await edge.run_small(program('sys.exit("no model configured")', show_stderr=True))

    assert "no model configured" in capfd.readouterr().err


# ------------------------------------------------------------------------------------------------------------ failures


async def test_a_program_that_does_not_exist_is_refused_before_any_run() -> None:
    with pytest.raises(AdapterSetupError, match="no program 'no-such-agent'"):
        CommandAdapter(["no-such-agent"])
    with pytest.raises(AdapterSetupError, match="needs a program"):
        CommandAdapter([])


async def test_a_program_that_cannot_be_started_has_a_code_of_its_own(tmp_path: Path) -> None:
    report = await edge.run_small(CommandAdapter([str(tmp_path / "nothing")], folder=tmp_path))

    assert (report.cases[0].status, report.cases[0].error_code) == ("error", "COMMAND_NOT_STARTED")


@pytest.mark.parametrize("source", ["", "sys.exit(3)", "next(messages())", 'sys.stdout.write("{half a line")'])
async def test_a_program_that_ends_instead_of_opening_has_a_code_of_its_own(program: WriteProgram, source: str) -> None:
    report = await edge.run_small(program(source))

    assert (report.cases[0].status, report.cases[0].error_code) == ("error", "COMMAND_EXITED")


async def test_a_program_that_ends_during_a_turn_ends_the_case_there(program: WriteProgram) -> None:
    adapter = program(
        """
        for message in messages():
            if message.get("stepId") == "again":
                os.kill(os.getpid(), signal.SIGKILL)
            answer(message, **({"observation": {"text": "hi"}} if message["type"] == "turn" else {}))
        """
    )

    report = await edge.run_small(adapter)

    assert [turn.error_code for turn in report.cases[0].turns] == [None, "COMMAND_EXITED"]
    assert report.cases[0].error_code is None


async def test_a_dead_program_is_not_asked_again(program: WriteProgram) -> None:
    adapter = program("answer(next(messages()))")
    session = await adapter.open(edge.open_context())

    codes = [await edge.code_of(session.send({}, edge.send_context())) for _ in range(2)]
    await session.close()

    assert codes == ["COMMAND_EXITED", "COMMAND_EXITED"]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "hello",
        "[]",
        '{"seq": 2}',
        '{"observation": {}}',
        '{"seq": 1, "observation": {}}',
        '{"seq": "2", "observation": {}}',
        '{"seq": 2, "observation": []}',
        '{"seq": 2, "observation": {"n": NaN}}',
        '{"seq": 2, "observation": {}, "text": "more"}',
        '{"seq": 2, "error": {"code": "EVALUATION_CANCELLED"}}',
        '{"seq": 2, "error": {"code": "two words"}}',
        '{"seq": 2, "error": {}}',
    ],
)
async def test_an_answer_that_breaks_the_contract_has_a_code_of_its_own(program: WriteProgram, line: str) -> None:
    adapter = program(
        """
        talk = messages()
        answer(next(talk))
        next(talk)
        print(sys.argv[1], flush=True)
        next(talk, None)
        """,
        line,
    )

    assert await turn_code(adapter) == "COMMAND_ANSWER_INVALID"


async def test_true_is_no_sequence_number(program: WriteProgram) -> None:
    adapter = program("next(messages()); print('{\"seq\": true}', flush=True)")

    assert await edge.code_of(adapter.open(edge.open_context())) == "COMMAND_ANSWER_INVALID"


async def test_a_line_too_many_is_not_taken_for_the_next_answer(program: WriteProgram) -> None:
    adapter = program(
        """
        for message in messages():
            if message["type"] == "turn":
                answer(message, observation={"of": message["stepId"], "text": ""})
                answer(message, observation={"of": "nobody", "text": ""})
            else:
                answer(message)
        """
    )

    report = await edge.run_small(adapter)

    assert [turn.error_code for turn in report.cases[0].turns] == [None, "COMMAND_ANSWER_INVALID"]


async def test_a_code_of_the_program_reaches_the_turn_and_its_message_does_not(program: WriteProgram) -> None:
    adapter = program(
        """
        for message in messages():
            failure = {"error": {"code": "MODEL_BUSY", "message": "key=sesame"}}
            answer(message, **(failure if message["type"] == "turn" else {}))
        """
    )

    report = await edge.run_small(adapter)

    assert [turn.error_code for turn in report.cases[0].turns] == ["MODEL_BUSY"]
    assert "sesame" not in json.dumps(report.to_data())


async def test_a_line_beyond_the_limit_is_not_read(program: WriteProgram) -> None:
    source = """
        for message in messages():
            answer(message, **({"observation": {"text": "x" * 5_000}} if message["type"] == "turn" else {}))
        """

    assert await turn_code(program(source, max_line_bytes=6_000)) is None
    assert await turn_code(program(source, max_line_bytes=4_000)) == "COMMAND_LINE_TOO_LONG"


async def test_an_error_at_the_close_makes_the_case_an_error(program: WriteProgram) -> None:
    adapter = program(
        """
        for message in messages():
            if message["type"] == "close":
                answer(message, error={"code": "NOT_TIDY"})
            else:
                answer(message, **({"observation": {"text": ""}} if message["type"] == "turn" else {}))
        """
    )

    report = await edge.run_small(adapter)

    assert (report.cases[0].status, report.cases[0].error_code) == ("error", "EVALUATION_CLEANUP_FAILED")


async def test_ending_without_a_word_is_a_fine_answer_to_the_close(program: WriteProgram) -> None:
    adapter = program(
        """
        for message in messages():
            if message["type"] == "close":
                break
            answer(message, **({"observation": {"text": ""}} if message["type"] == "turn" else {}))
        """
    )

    assert (await edge.run_small(adapter)).cases[0].status == "passed"


# -------------------------------------------------------------------------------------------------------------- ending

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
