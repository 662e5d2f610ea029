"""``evalrunner push`` and ``run --push`` against a small site that answers as it is told."""

from __future__ import annotations

import gzip
import http.server
import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from evalrunner.cli import main
from evalrunner.cli.inputs import InputError
from evalrunner.cli.publishing import PAUSES_S, Follower, is_finished, publish
from evalrunner.cli.site import AnswerLate, PassingError, ReportRefused, Site, SiteError
from evalrunner.examples.catalogue import suite_file
from evalrunner.jsontext import parse_json

RUN = "http://127.0.0.1/runs/7/"
Answer = tuple[int, dict[str, str], bytes]


def imported(outcome: str = "created") -> Answer:
    return 201 if outcome == "created" else 200, {}, json.dumps({"url": RUN, "outcome": outcome}).encode()


def problem(status: int, code: str, detail: str, *faults: tuple[str, str], **headers: str) -> Answer:
    body = {"code": code, "detail": detail, "faults": [{"path": path, "sentence": text} for path, text in faults]}
    return status, headers, json.dumps(body).encode()


@dataclass
class FakeSite:
    """Gives its answers in turn, the last one for ever; keeps what it was sent."""

    answers: list[Answer] = field(default_factory=lambda: [imported()])
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    address: str = ""

    def take(self, headers: dict[str, str], body: bytes) -> Answer:
        self.bodies.append(body)
        self.headers.append(headers)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def site(self) -> Site:
        return Site(self.address, "secret")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSite]:
    monkeypatch.setenv("EVALSITE_TOKEN", "secret")
    fake = FakeSite()
    with serve(fake) as server:
        fake.address = f"http://127.0.0.1:{server.server_address[1]}"
        yield fake
        server.shutdown()


def serve(fake: FakeSite) -> http.server.ThreadingHTTPServer:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, headers, content = fake.take({**dict(self.headers), "path": self.path}, body)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    write(path, status="completed")
    return path


def write(path: Path, **members: Any) -> None:
    """Put a report in place as a run does: whole, by a rename."""
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps({"runId": "one", "suite": {"status": "running"}, **members, "cases": []}))
    draft.replace(path)


# ---------------------------------------------------------------------------------------------------------- publishing


@pytest.mark.parametrize(
    ("outcome", "said"), [("created", "new"), ("updated", "updated"), ("unchanged", "was there already")]
)
def test_the_address_of_the_run_is_all_that_goes_to_standard_output(
    fake: FakeSite, report: Path, capsys: pytest.CaptureFixture[str], outcome: str, said: str
) -> None:
    fake.answers = [imported(outcome)]

    status = main(["push", str(report), "--site", f"{fake.address}/evals/"])

    shown = capsys.readouterr()
    assert (status, shown.out) == (0, f"{RUN}\n")
    assert shown.err == f"{report}: {said}\n"
    assert fake.bodies == [report.read_bytes()]
    assert fake.headers[0]["Authorization"] == "Bearer secret"
    assert fake.headers[0]["path"] == "/evals/api/v1/runs/import"


def test_a_packed_report_is_sent_as_it_is(fake: FakeSite, report: Path) -> None:
    packed = gzip.compress(report.read_bytes())
    report.write_bytes(packed)

    assert main(["push", str(report), "--site", fake.address]) == 0
    assert fake.bodies == [packed]
    assert fake.headers[0]["Content-Type"] == "application/gzip"


def test_a_refused_report_names_its_faults_and_keeps_no_other_back(
    fake: FakeSite, report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.answers = [problem(422, "report_invalid", "It is none.", ("cases.0.id", "missing \x1b[2J")), imported()]

    status = main(
        ["push", str(report), str(tmp_path / "missing.json"), str(tmp_path), str(report), "--site", fake.address]
    )

    shown = capsys.readouterr()
    assert (status, shown.out) == (4, f"{RUN}\n")
    assert shown.err.splitlines() == [
        f"{report}: refused (report_invalid): It is none.",
        "  cases.0.id: missing \\x1b[2J",
        f"{tmp_path / 'missing.json'}: no such file or directory",
        f"{tmp_path}: is a directory",
        f"{report}: new",
    ]


SITE_FAULTS = [
    (
        problem(401, "not_signed_in", "This token is unknown."),
        "does not accept the token in EVALSITE_TOKEN (401): This",
    ),
    (
        problem(403, "scope_too_small", "This needs the role runner."),
        "does not accept the token in EVALSITE_TOKEN (403)",
    ),
    ((404, {}, b"<h1>Not found</h1>"), "answered 404 Not Found; is it an Evalsite?"),
    ((200, {}, b"<h1>Welcome</h1>"), "is no Evalsite"),
    ((413, {}, b"<h1>nginx</h1>"), "something before the site takes no report of this size (413)"),
    (
        (301, {"Location": "https://other.example/api/v1/runs/import"}, b""),
        "redirects to https://other.example, which is not followed",
    ),
]


@pytest.mark.parametrize(("answer", "sentence"), SITE_FAULTS)
def test_a_site_that_cannot_be_used_is_asked_once_for_all_reports(
    fake: FakeSite, report: Path, capsys: pytest.CaptureFixture[str], answer: Answer, sentence: str
) -> None:
    fake.answers = [answer]

    status = main(["push", str(report), str(report), "--site", fake.address])

    shown = capsys.readouterr()
    assert (status, shown.out, len(fake.bodies)) == (4, "", 1)
    assert sentence in shown.err
    assert "secret" not in shown.err


def test_failures_that_pass_are_tried_again_after_growing_pauses(fake: FakeSite, report: Path) -> None:
    fake.answers = [(503, {}, b""), (429, {"Retry-After": "30"}, b""), (502, {"Retry-After": "9999"}, b""), imported()]
    pauses: list[float] = []
    told: list[str] = []

    published = publish(fake.site(), report, tell=told.append, wait=pauses.append)

    assert published.url == RUN
    assert pauses == [1.0, 30.0, 60.0]
    assert told[0] == f"{fake.address} answered 503 Service Unavailable; trying again in 1 s"


def test_a_site_that_stays_away_is_given_up(report: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        site = Site(f"http://127.0.0.1:{unused.getsockname()[1]}", "secret")
        pauses: list[float] = []

        with pytest.raises(PassingError, match="cannot be reached: connection refused"):
            publish(site, report, tell=lambda text: None, wait=pauses.append)

    assert pauses == list(PAUSES_S)


def hang_up_on_two(server: socket.socket) -> None:
    for _ in range(2):  # the first is the one that was never answered
        server.accept()[0].close()


def test_a_connection_that_breaks_and_an_answer_that_does_not_come_may_pass(report: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"

        with pytest.raises(AnswerLate, match=r"did not answer within 0\.05 s"):  # and is not asked again
            publish(Site(address, "secret", answer_s=0.05), report, tell=pytest.fail, wait=lambda seconds: None)
        threading.Thread(target=hang_up_on_two, args=(server,), daemon=True).start()
        with pytest.raises(PassingError, match="broke"):
            Site(address, "secret").publish(report)


def test_a_certificate_that_nobody_vouches_for_and_a_server_without_tls_are_told_apart(
    fake: FakeSite, report: Path, tmp_path: Path
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out"]
    subprocess.run([*make, str(certificate), *subject], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serve(fake) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        address = f"https://127.0.0.1:{server.server_address[1]}"

        with pytest.raises(SiteError, match="its certificate is not trusted: self-signed certificate"):
            Site(address, "secret").publish(report)
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("SSL_CERT_FILE", str(certificate))
            assert Site(address, "secret").publish(report).url == RUN
        server.shutdown()
    with pytest.raises(SiteError, match="does not speak TLS"):
        Site(fake.address.replace("http:", "https:"), "secret").publish(report)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "evals.example.org",
        "ftp://x",
        "https://",
        "https://u:p@x",
        "https://x?q",
        "http://x:port",
        "http://a b",
        "http://ü.de",
    ],
)
def test_what_is_no_address_of_a_site_is_refused_before_anything_is_sent(address: str) -> None:
    with pytest.raises(InputError):
        Site(address, "secret")


@pytest.mark.parametrize("token", [None, "", " ", "two words", "ü", "a\nb"])
def test_a_token_that_is_none_is_refused_without_being_shown(
    report: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], token: str | None
) -> None:
    monkeypatch.delenv("OTHER", raising=False)
    if token is not None:
        monkeypatch.setenv("OTHER", token)

    status = main(["push", str(report), "--site", "http://127.0.0.1:9", "--token-env", "OTHER"])

    shown = capsys.readouterr()
    assert (status, shown.out) == (4, "")
    assert "the environment variable OTHER" in shown.err
    assert not token or not token.strip() or token not in shown.err


# ----------------------------------------------------------------------------------------------------------- following


@dataclass
class Clock:
    """Time that passes only by waiting; at its ``moments`` something happens."""

    moments: dict[float, Any]
    now: float = 0.0

    def wait(self, seconds: float) -> None:
        self.now += seconds
        for at in [at for at in self.moments if at <= self.now]:
            self.moments.pop(at)()

    def __call__(self) -> float:
        return self.now


def follow(
    fake: FakeSite, path: Path, moments: dict[float, Any], *, takes_present: bool = True
) -> tuple[list[str], list[str]]:
    clock, told, found = Clock(moments), list[str](), list[str]()
    follower = Follower(
        fake.site(),
        path,
        tell=told.append,
        patience_s=100.0,
        wait=clock.wait,
        pause=clock.wait,
        clock=clock,
        takes_present=takes_present,
    )
    follower.follow(found=found.append)
    return told, found


def test_snapshots_are_published_until_the_report_is_finished(fake: FakeSite, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    moments = {
        5.0: lambda: write(path, status="running"),
        20.0: lambda: write(path, status="running", more=1),
        30.0: lambda: write(path, status="completed"),
    }

    told, found = follow(fake, path, moments)

    assert [json.loads(body)["status"] for body in fake.bodies] == ["running", "running", "completed"]
    assert (told, found) == ([], [RUN])


def test_a_site_that_is_away_misses_snapshots_and_gets_the_last_one(fake: FakeSite, report: Path) -> None:
    write(report, status="running")
    fake.answers = [(503, {}, b""), (503, {}, b""), (503, {}, b""), imported()]

    told, found = follow(fake, report, {3.0: lambda: write(report, status="cancelled")})

    assert json.loads(fake.bodies[-1])["status"] == "cancelled"
    assert told[0].endswith("the run goes on and later snapshots are sent")
    assert told[1].endswith("trying again in 1 s")
    assert (len(told), found) == (2, [RUN])


def test_a_later_snapshot_on_the_site_is_no_reason_to_stop_but_another_refusal_is(fake: FakeSite, report: Path) -> None:
    write(report, status="running")
    later, differs = (problem(409, code, "No.") for code in ("run_is_later", "run_differs"))
    fake.answers = [later, differs]

    with pytest.raises(ReportRefused, match="run_differs"):
        follow(fake, report, {3.0: lambda: write(report, status="running", more=1)})

    assert len(fake.bodies) == 2


def test_patience_ends_for_a_report_that_does_not_come_and_for_one_that_stands_still(
    fake: FakeSite, report: Path
) -> None:
    with pytest.raises(InputError, match="has not appeared for 100 s"):
        follow(fake, report.with_name("missing.json"), {})

    write(report, status="running")
    with pytest.raises(InputError, match="has not changed for 100 s"):
        follow(fake, report, {})


def test_a_report_of_an_earlier_run_is_left_alone_where_it_will_be_replaced(fake: FakeSite, report: Path) -> None:
    follow(fake, report, {3.0: lambda: write(report, status="completed", runId="two")}, takes_present=False)

    assert [json.loads(body)["runId"] for body in fake.bodies] == ["two"]


def test_only_one_report_can_be_followed(fake: FakeSite, report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["push", str(report), str(report), "--site", fake.address, "--follow"]) == 4
    assert "--follow takes one report" in capsys.readouterr().err


def test_push_follow_ends_with_the_report(fake: FakeSite, report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["push", str(report), "--site", fake.address, "--follow"]) == 0
    assert capsys.readouterr().out == f"{RUN}\n"


@pytest.mark.parametrize(("content", "expected"), [(b'{"status":"running"}', False), (b"{}", True), (b"", True)])
def test_what_says_nothing_of_going_on_is_finished(report: Path, content: bytes, expected: bool) -> None:
    report.write_bytes(content)

    assert is_finished(report) is expected


# -------------------------------------------------------------------------------------------------------- run … --push


@pytest.fixture
def arguments(fake: FakeSite, tmp_path: Path) -> list[str]:
    target = "evalrunner.examples.catalogue:target"
    return ["run", str(suite_file), "--adapter", target, "--output", str(tmp_path / "out.json")]


def test_a_run_publishes_its_last_report_and_judges_for_itself(
    fake: FakeSite, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out.json").write_text('{"status": "completed", "runId": "earlier"}')

    status = main([*arguments, "--push", fake.address])

    shown = capsys.readouterr()
    assert status == 0
    assert parse_json(fake.bodies[-1]) == parse_json((tmp_path / "out.json").read_bytes())
    assert not any(b"earlier" in body for body in fake.bodies)
    assert f"published at {RUN}" in shown.err


def test_a_refused_report_does_not_change_the_verdict(
    fake: FakeSite, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fake.answers = [problem(401, "not_signed_in", "Unknown token.")]

    assert main([*arguments, "--push", fake.address]) == 0
    assert "not published: " in capsys.readouterr().err


def test_a_run_does_not_begin_without_the_token_that_it_needs(
    fake: FakeSite, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--push", fake.address, "--token-env", "NO_SUCH_VARIABLE"]) == 2
    assert "NO_SUCH_VARIABLE" in capsys.readouterr().err
