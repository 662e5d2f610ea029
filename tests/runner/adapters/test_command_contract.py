"""The command adapter's contract: lines, processes, arguments, variables."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.runner import edge
from tests.runner.adapters.programs import WriteProgram, ask, lives

pytestmark = pytest.mark.asyncio


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
