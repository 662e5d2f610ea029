"""Programs that break off, break the contract, or answer with a code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from evalrunner.adapters.command import CommandAdapter
from evalrunner.errors import AdapterSetupError

from tests.runner import edge
from tests.runner.adapters.programs import WriteProgram, turn_code

pytestmark = pytest.mark.asyncio


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
