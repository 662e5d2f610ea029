"""The HTTP adapter, against the example server and against services that misbehave."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from evalrunner import parse_evaluation_report, run_evaluation
from evalrunner.adapters.http import HttpAdapter
from evalrunner.errors import AdapterSetupError, EvaluationError
from evalrunner.examples.catalogue import evaluators
from evalrunner.examples.http_server import CatalogueServer
from evalrunner.models import CaseStatus, EvaluationReport

from tests.runner import edge
from tests.runner.scripted_service import answer, serving

SECRET = "sesame-0d1f"
OBSERVED = answer({"observation": {"text": "hi"}})

pytestmark = pytest.mark.asyncio


@pytest.fixture
def catalogue() -> Iterator[CatalogueServer]:
    with CatalogueServer(token=SECRET) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_TOKEN", f"Bearer {SECRET}")


def authorised(url: str, **options: Any) -> HttpAdapter:
    return HttpAdapter(url, headers_from_env={"Authorization": "AGENT_TOKEN"}, **options)


async def run_tutorial(adapter: HttpAdapter, **options: Any) -> EvaluationReport:
    return await run_evaluation(
        suite=json.loads(edge.CATALOGUE_SUITE.read_text()),
        target=edge.TARGET,
        adapter=adapter,
        evaluators=evaluators,
        concurrency=4,
        **options,
    )


async def turn_code(turn: bytes | None, **options: Any) -> str | None:
    """Send one turn to a service that answers it so, and give the code of the failure."""
    async with serving(turn=turn) as service:
        session = await HttpAdapter(service.url, **options).open(edge.open_context())
        code = await edge.code_of(session.send({"text": "hello"}, edge.send_context()))
        await session.close()
        assert service.names() == ["open", "turn", "close"], "a request was repeated or left out"
        return code


# ------------------------------------------------------------------------------------------------- the example server


async def test_the_tutorial_passes_over_http_and_every_conversation_is_closed(catalogue: CatalogueServer) -> None:
    report = await run_tutorial(authorised(catalogue.url))

    assert [case.status for case in report.cases] == [CaseStatus.PASSED] * 4
    assert catalogue.conversations == {}


async def test_the_example_server_starts_as_a_program_and_tells_its_address() -> None:
    command = [sys.executable, "-m", "evalrunner.examples.http_server", "--wrong-selection"]
    server = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert server.stdout is not None
    url = (await server.stdout.readline()).decode().removeprefix("listening on ").strip()
    report = await run_tutorial(HttpAdapter(url))
    server.terminate()
    await server.wait()

    assert (report.summary.passed, report.summary.failed) == (2, 2)


async def test_a_missing_token_ends_every_case_with_the_status_of_the_server(catalogue: CatalogueServer) -> None:
    report = await run_tutorial(HttpAdapter(catalogue.url))

    assert {(case.status, case.error_code) for case in report.cases} == {(CaseStatus.ERROR, "HTTP_STATUS_401")}


async def test_a_code_of_the_agent_reaches_the_turn(catalogue: CatalogueServer) -> None:
    report = await edge.run_small(authorised(catalogue.url))

    assert [turn.error_code for turn in report.cases[0].turns] == ["CATALOGUE_INPUT_UNKNOWN"]


async def test_a_cancelled_conversation_goes_on_from_its_checkpoint(catalogue: CatalogueServer) -> None:
    suite = json.loads(edge.CATALOGUE_SUITE.read_text())
    suite["scenarios"] = suite["scenarios"][:1]
    options: dict[str, Any] = {"suite": suite, "evaluators": evaluators}
    adapter = authorised(catalogue.url, supports_resume=True)
    cancelled = await edge.run_until_second_turn(adapter, **options)
    catalogue.conversations.clear()

    report = await edge.run_small(adapter, **options, resume=cancelled.to_data())

    assert [len(case.turns) for case in cancelled.cases] == [1, 0]
    assert [case.status for case in report.cases] == [CaseStatus.PASSED] * 2
    assert report.cases[0].turns[0] == cancelled.cases[0].turns[0]


# -------------------------------------------------------------------------------------------------------- the contract


async def test_open_turn_and_close_carry_the_documented_members() -> None:
    async with serving(open=answer({"sessionId": "s-1"}), turn=OBSERVED) as service:
        session = await HttpAdapter(f"{service.url}/").open(edge.open_context({"at": 3}))
        result = await session.send({"text": "hello \ud800"}, edge.send_context())
        await session.close()

    ids = {"runId": "run-1", "caseId": "case-1", "threadId": "thread-1"}
    scenario = {
        "id": "talk",
        "name": "Talk",
        "tags": ["smoke"],
        "metadata": {"language": "en"},
        "writePolicy": "read_only",
    }
    assert result == {"observation": {"text": "hi"}}
    assert [request.path for request in service.requests] == ["/agent/open", "/agent/turn", "/agent/close"]
    assert [request.message for request in service.requests] == [
        {"type": "open", "protocol": 1, **ids, "scenario": scenario, "checkpoint": {"at": 3}},
        {
            "type": "turn",
            **ids,
            "sessionId": "s-1",
            "turnId": "turn-1",
            "stepId": "ask",
            "input": {"text": "hello \ud800"},
        },
        {"type": "close", **ids, "sessionId": "s-1"},
    ]
    assert {request.headers["content-type"] for request in service.requests} == {"application/json"}


async def test_the_agent_is_never_told_its_criteria_or_its_next_steps() -> None:
    async with serving(turn=OBSERVED) as service:
        await edge.run_small(HttpAdapter(service.url))

    opening = json.dumps(service.requests[0].message)
    assert "secret-criterion" not in opening
    assert "Only the judge" not in opening
    assert "more" not in opening


async def test_checkpoint_and_stop_are_taken_from_the_answer() -> None:
    stop = {"status": "skipped", "reason": "nothing to do"}
    async with serving(turn=answer({"observation": {}, "checkpoint": {"at": 1}, "stop": stop})) as service:
        report = await edge.run_small(HttpAdapter(service.url))

    [case] = report.cases
    assert (case.status, case.skip_reason, case.turns[0].checkpoint) == ("skipped", "nothing to do", {"at": 1})


async def test_null_members_count_as_absent_and_an_empty_open_or_close_is_fine() -> None:
    empty = answer(b"", "204 No Content")
    turn = answer({"observation": {}, "checkpoint": None, "stop": None})
    async with serving(open=empty, turn=turn, close=empty) as service:
        report = await edge.run_small(HttpAdapter(service.url))

    assert [turn.status for turn in report.cases[0].turns] == ["passed", "passed"]
    assert report.cases[0].error_code is None


# ------------------------------------------------------------------------------------------------------------ failures


@pytest.mark.parametrize("status", ["500 Oops", "404 Not Found", "429 Too Many Requests", "503 Unavailable"])
async def test_an_error_status_becomes_a_code_and_nothing_is_sent_again(status: str) -> None:
    assert await turn_code(answer({"observation": {}}, status)) == f"HTTP_STATUS_{status[:3]}"


async def test_a_redirect_is_not_followed() -> None:
    async with serving(turn=OBSERVED) as elsewhere:
        code = await turn_code(answer(b"", "307 Temporary Redirect", f"Location: {elsewhere.url}/turn"))

    assert (code, elsewhere.requests) == ("HTTP_STATUS_307", [])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b'{"observation": {}',
        b'{"observation": {"n": NaN}}',
        b'{"observation": {"text": "\xff"}}',
        b"[" * 100_000,
        [],
        {},
        {"observation": []},
        {"observation": {}, "more": 1},
        {"observation": {}, "checkpoint": 1},
        {"observation": {}, "stop": {"status": "skipped"}},
        {"observation": {}, "stop": {"status": "skipped", "reason": ""}},
        {"observation": {}, "stop": {"status": ["skipped"], "reason": "x"}},
        {"observation": {}, "stop": {"status": "later", "reason": "x"}},
        {"error": "BROKEN"},
        {"error": {}},
        {"error": {"code": ""}},
        {"error": {"code": "not an id"}},
        {"error": {"code": "EVALUATION_CANCELLED"}},
    ],
)
async def test_an_answer_that_breaks_the_contract_has_a_code_of_its_own(content: Any) -> None:
    assert await turn_code(answer(content)) == "HTTP_ANSWER_INVALID"


async def test_a_compressed_answer_is_refused_since_it_was_not_asked_for() -> None:
    assert await turn_code(answer(b"\x1f\x8b", "200 OK", "Content-Encoding: gzip")) == "HTTP_ANSWER_INVALID"


@pytest.mark.parametrize("session_id", ["", 7, ["s"], "s" * 1_001])
async def test_a_session_id_is_a_short_text(session_id: Any) -> None:
    async with serving(open=answer({"sessionId": session_id})) as service:
        assert await edge.code_of(HttpAdapter(service.url).open(edge.open_context())) == "HTTP_ANSWER_INVALID"


async def test_the_largest_answer_is_read_and_one_byte_more_is_refused() -> None:
    content = b'{"observation": {"text": "%s"}}' % (b"x" * 5_000)

    assert await turn_code(answer(content), max_answer_bytes=len(content)) is None
    assert await turn_code(answer(content), max_answer_bytes=len(content) - 1) == "HTTP_ANSWER_TOO_LARGE"


async def test_an_endless_answer_is_cut_off() -> None:
    chunk = b"%x\r\n%s\r\n" % (4_096, b"x" * 4_096)
    endless = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 3

    assert await turn_code(endless, max_answer_bytes=8_192) == "HTTP_ANSWER_TOO_LARGE"


async def test_a_connection_that_breaks_off_has_a_code_of_its_own() -> None:
    half = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\nhalf"

    assert await turn_code(half) == "HTTP_CONNECTION_LOST"


async def test_an_answer_that_does_not_come_ends_at_the_read_limit() -> None:
    assert await turn_code(None, read_timeout_s=0.05) == "HTTP_READ_TIMEOUT"


async def test_a_close_that_hangs_does_not_hold_up_the_run() -> None:
    async with serving(turn=OBSERVED, close=None) as service:
        report = await edge.run_small(HttpAdapter(service.url, close_timeout_s=0.05))

    assert report.cases[0].error_code == "EVALUATION_CLEANUP_FAILED"


async def test_nobody_listening_is_a_failed_connection() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"

        assert await edge.code_of(HttpAdapter(url).open(edge.open_context())) == "HTTP_CONNECT_FAILED"


async def test_a_connection_that_is_never_accepted_ends_at_the_connect_limit() -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for other in (first, second):
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        adapter = HttpAdapter(f"http://127.0.0.1:{full.getsockname()[1]}", connect_timeout_s=0.05)

        assert await edge.code_of(adapter.open(edge.open_context())) == "HTTP_CONNECT_TIMEOUT"


async def test_a_close_that_fails_makes_the_case_an_error() -> None:
    async with serving(turn=OBSERVED, close=answer(b"", "500 Oops")) as service:
        report = await edge.run_small(HttpAdapter(service.url))

    assert (report.cases[0].status, report.cases[0].error_code) == ("error", "EVALUATION_CLEANUP_FAILED")


# --------------------------------------------------------------------------------------------------------------- ending


async def test_cancelling_the_run_closes_the_request() -> None:
    cancel = asyncio.Event()
    async with serving(turn=None) as service:
        running = asyncio.create_task(edge.run_small(HttpAdapter(service.url), cancel=cancel))
        await service.waiting.wait()
        cancel.set()
        report = await running
        await asyncio.wait_for(service.hung_up.wait(), 5)

    assert [turn.status for turn in report.cases[0].turns] == ["cancelled"]
    assert service.names()[-1] == "close"


async def test_the_runners_time_limit_closes_the_request() -> None:
    async with serving(turn=None) as service:
        report = await edge.run_small(HttpAdapter(service.url), timeout_ms=2_000)
        await asyncio.wait_for(service.hung_up.wait(), 5)

    assert [turn.error_code for turn in report.cases[0].turns] == ["EVALUATION_TIMEOUT"]


async def test_a_signal_alone_ends_a_turn() -> None:
    signal = asyncio.Event()
    async with serving(turn=None) as service:
        session = await HttpAdapter(service.url).open(edge.open_context())
        sending = asyncio.create_task(session.send({}, edge.send_context(signal)))
        await service.waiting.wait()
        signal.set()

        with pytest.raises(EvaluationError) as refusal:
            await sending
        await asyncio.wait_for(service.hung_up.wait(), 5)
        await session.close()

    assert refusal.value.code == "EVALUATION_CANCELLED"


# -------------------------------------------------------------------------------------------------------------- secrets


async def test_a_secret_is_sent_and_appears_nowhere_else(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(turn=answer({"echo": SECRET}, "500 Oops")) as service:
        adapter = authorised(service.url)
        report = await edge.run_small(adapter)

    assert {request.headers["authorization"] for request in service.requests} == {f"Bearer {SECRET}"}
    assert SECRET not in json.dumps(report.to_data())
    assert SECRET not in repr(adapter)
    assert "/agent/turn" in caplog.text, "nothing was logged, so this proves nothing"
    assert SECRET not in caplog.text


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(turn=OBSERVED) as service, serving(turn=OBSERVED) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        report = await edge.run_small(HttpAdapter(service.url))

    assert (report.cases[0].status, proxy.requests) == ("passed", [])


@pytest.mark.parametrize("value", [None, "", "line\nbreak", "umlaut-ä"])
async def test_a_variable_without_a_sendable_value_is_named(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("AGENT_TOKEN")
    if value is not None:
        monkeypatch.setenv("AGENT_TOKEN", value)

    with pytest.raises(AdapterSetupError, match="environment variable AGENT_TOKEN") as refusal:
        authorised("http://127.0.0.1:1")
    assert not value or value not in str(refusal.value)


@pytest.mark.parametrize("header", ["", "with space", "Host", "content-length", "Accept-Encoding", "a:b"])
async def test_a_header_that_cannot_be_the_hosts_is_refused(header: str) -> None:
    with pytest.raises(AdapterSetupError):
        HttpAdapter("http://127.0.0.1:1", headers_from_env={header: "AGENT_TOKEN"})


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8000",
        "ftp://127.0.0.1",
        "http://",
        "http://127.0.0.1:port",
        "http://[::1",
        "http://me:hunter2@127.0.0.1",
        "http://127.0.0.1/?key=hunter2",
        "http://127.0.0.1/#hunter2",
    ],
)
async def test_an_address_that_is_none_or_holds_a_secret_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(AdapterSetupError) as refusal:
        HttpAdapter(url)
    assert "hunter2" not in str(refusal.value)


async def test_without_httpx_the_adapter_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)

    with pytest.raises(AdapterSetupError, match=r"pip install 'evalrunner\[http\]'"):
        HttpAdapter("http://127.0.0.1:1")


async def test_a_report_of_http_errors_can_be_read_again() -> None:
    async with serving(turn=answer(b"", "500 Oops")) as service:
        report = await edge.run_small(HttpAdapter(service.url))

    assert parse_evaluation_report(report.to_data()).to_data() == report.to_data()
