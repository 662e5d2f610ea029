"""What cannot be run is a sentence that names the place."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from tests.runner.cli.commands import evalrunner, run, write_suite


@pytest.mark.parametrize(
    ("adapter", "sentence"),
    [
        ("nonsense", "'nonsense' is not of the form module:object"),
        ("no_such_module:x", "module 'no_such_module' cannot be imported: ModuleNotFoundError"),
        ("host:nothing", "module 'host' has no object 'nothing'"),
        ("host:number", "no function open"),
        ("host:fails", "the adapter cannot be made: RuntimeError: no model configured"),
        ("host:leaves", "the adapter cannot be made: SystemExit"),
        ("command:", "needs a program"),
        ("command:no-such-agent", "no program 'no-such-agent'"),
        ("command:'open", "cannot be split"),
        ("http:nonsense", "must begin with http:// or https://"),
        ("http://me:secret@127.0.0.1", "put no user or password into the address"),
        ("evalrunner.examples.catalogue:target", "no version"),
    ],
)
def test_an_adapter_that_cannot_be_had_is_a_sentence(folder: Path, adapter: str, sentence: str) -> None:
    done = run(folder, "--fingerprint", "v9", adapter=adapter)

    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "out.json").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--http-header", "Authorization"], "--http-header 'Authorization' is not of the form NAME=VARIABLE"),
        (["--http-header", "Authorization=NOT_SET"], "the environment variable NOT_SET is not set"),
        (["--scenario", "nonsense"], "the suite has no scenario 'nonsense'; it has talk"),
        (["--tag", "nonsense"], "no scenario is left"),
        (["--repetitions", "20", "--max-cases", "19"], "more cases than --max-cases allows"),
        (["--retry-failed"], "--retry-failed needs --resume"),
        (["--resume", "missing.json"], "missing.json: no such file"),
        (["--resume", "suite.json"], "suite.json is not a valid report:\n  suite: missing"),
        (["--evaluators", "host:no_functions"], "no mapping of ids to functions"),
        (["--evaluators", "host:nothing"], "no object 'nothing'"),
        (["--target", ""], "--target must not be empty"),
        (["--output", "suite.json/out.json"], "cannot be written"),
        (["--output", "."], "cannot be written"),
        (["--output", "/dev/null"], "cannot be written"),
        (["--repetitions", "0"], "no whole number from 1 to 100"),
        (["--repetitions", "101"], "no whole number from 1 to 100"),
        (["--concurrency", "33"], "no whole number from 1 to 32"),
        (["--max-failures", "100001"], "no whole number from 1 to 100000"),
        (["--max-cases", "100001"], "no whole number from 1 to 100000"),
        (["--timeout-ms", "3600001"], "no whole number from 1 to 3600000"),
        (["--timeout-ms", "1.5"], "no whole number"),
        (["--bogus"], "--bogus"),
        (["--repet", "2"], "--repet"),
        (["second.json"], "second.json"),
    ],
)
def test_a_wrong_argument_is_a_sentence_and_nothing_is_run(go: Path, arguments: list[str], sentence: str) -> None:
    adapter = "http://127.0.0.1:9" if "--http-header" in arguments else "host:adapter"

    done = run(go, *arguments, adapter=adapter)

    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert "turn" not in done.stderr
    assert not (go / "out.json").exists()


def test_an_evaluator_that_nobody_supplies_is_named(go: Path) -> None:
    custom = {"id": "judge", "kind": "custom", "evaluator": "my.judge", "parameters": {}}
    write_suite(go, lambda suite: suite["scenarios"][0].update(assertions=[custom]))

    done = run(go)

    assert done.returncode == 2
    assert "names an evaluator that nobody supplies" in done.stderr
    assert "my.judge (EVALUATOR_NOT_FOUND)" in done.stderr


UNREADABLE = [
    (b"", "empty, no JSON value"),
    (b"{\n  'a': 1}", "line 2, column 3: not JSON"),
    (b'{"a": [1, 2', "line 1, column 12: not JSON"),
    (b'{"a": 1} x', "line 1, column 10: not JSON: extra data"),
    (b'{"text": "NaN",\n "a": NaN}', "line 2, column 7: NaN is not JSON"),
    (b'{\n"a": "\xff"}', "line 2, column 7: not UTF-8 text (byte 8)"),
    (b"\x89PNG\r\n\x1a\n\0\0", "not UTF-8 text"),
    (b"\xef\xbb\xbf{}", "byte order mark"),
    (b"[" * 100_000, "nested too deeply"),
    (gzip.compress(b"{}")[:-9], "damaged gzip data"),
    (b"\x1f\x8bnonsense", "damaged gzip data"),
]


@pytest.mark.parametrize(("content", "sentence"), UNREADABLE)
def test_a_file_that_is_no_json_is_a_sentence_with_its_place(folder: Path, content: bytes, sentence: str) -> None:
    (folder / "suite.json").write_bytes(content)

    started, checked = run(folder), evalrunner(folder, "validate", "suite.json")

    for done, status in ((started, 2), (checked, 1)):
        assert (done.returncode, done.stdout) == (status, "")
        assert f"suite.json: {sentence}" in done.stderr or sentence in done.stderr
        assert "Traceback" not in done.stderr


def test_a_suite_of_the_wrong_shape_is_refused_with_every_place(folder: Path) -> None:
    def spoil(suite: dict[str, Any]) -> None:
        del suite["name"]
        suite["scenarios"][0]["steps"][1]["id"] = ""
        suite["scenarios"][0]["surprise"] = 1

    write_suite(folder, spoil)

    started, checked = run(folder), evalrunner(folder, "validate", "suite.json")

    faults = [
        "name: missing (EVALUATION_SUITE_INVALID)",
        "scenarios.0.steps.1.id: an empty text (EVALUATION_SUITE_INVALID)",
        "scenarios.0: an object with a member that is not allowed, or none expected here (EVALUATION_SUITE_INVALID)",
    ]
    assert (started.returncode, checked.returncode) == (2, 1)
    assert started.stderr.splitlines()[1:] == [f"  {fault}" for fault in faults]
    assert checked.stderr.splitlines() == [f"suite.json: {fault}" for fault in faults]
