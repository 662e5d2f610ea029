"""Files that must be refused, and reports full of hostile text that must not: for form, API and command alike."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import zstandard

from tests.factories import case, report, turn

NUL, SURROGATE, OVERRIDE = "\x00", "\ud83d", "\u202e"


@dataclass(frozen=True)
class BadFile:
    """``status`` is the HTTP answer; ``path`` the first place named, None where no place is."""

    name: str
    make: Callable[[], bytes]
    status: int
    code: str
    path: str | None


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def nested(levels: int) -> dict[str, Any]:
    """Return an object whose innermost value has the depth ``levels``."""
    value: Any = "x"
    for _ in range(levels - 1):
        value = [value]
    return {"a": value}


def observing(observation: Any) -> dict[str, Any]:
    return report(cases=[case(turns=[turn(observation=observation)])])


def with_case_member(**members: Any) -> dict[str, Any]:
    return report(cases=[case(**members)])


def bomb() -> bytes:
    """Return a gzip file of some 200 kB that holds a text of 200 MB."""
    packer = zlib.compressobj(9, wbits=31)
    start = packer.compress(b'{"runId":"')
    return start + b"".join(packer.compress(b"a" * 1_000_000) for _ in range(200)) + packer.flush()


def _files() -> Iterator[BadFile]:
    whole = encoded(report("PF"))
    packed = gzip.compress(whole)
    yield BadFile("empty", lambda: b"", 400, "empty", "")
    yield BadFile("truncated", lambda: whole[: len(whole) * 4 // 5], 400, "not_json", None)
    yield BadFile("truncated gzip", lambda: packed[: len(packed) * 4 // 5], 400, "compression_broken", None)
    yield BadFile("truncated zstd", lambda: zstandard.compress(whole)[:-40], 400, "compression_broken", None)
    yield BadFile("not UTF-8", lambda: whole.replace(b"Good", b"\xffood", 1), 400, "not_utf8", "cases.0")
    yield BadFile("PNG", lambda: b"\x89PNG\r\n\x1a\n" + b"\x00" * 100, 415, "not_a_report", None)
    yield BadFile("list", lambda: encoded([report("P")]), 422, "not_object", "")
    yield BadFile("NaN", lambda: whole.replace(b"120", b"NaN", 1), 400, "not_json", "cases.0.turns.0.durationMs")
    yield BadFile("gzip bomb", bomb, 413, "item_too_large", "runId")
    yield BadFile(
        "61 levels", lambda: encoded(observing(nested(61))), 422, "report_invalid", "cases.0.turns.0.observation"
    )
    yield BadFile(
        "500,001 values",
        lambda: encoded(observing({"a": [0] * 499_999})),
        422,
        "report_invalid",
        "cases.0.turns.0.observation",
    )
    yield BadFile("wrong counts", lambda: encoded(_miscounted()), 422, "counts_wrong", "summary.passed")
    yield BadFile("unknown member", lambda: encoded(report("P") | {"extra": 1}), 422, "report_invalid", "extra")
    yield BadFile("unknown case member", lambda: encoded(with_case_member(extra=1)), 422, "report_invalid", "cases.0")
    yield BadFile("wrong shape", lambda: encoded(with_case_member(turns={})), 422, "report_invalid", "cases.0.turns")
    yield BadFile("no suite", lambda: encoded(_without("suite")), 422, "report_invalid", "suite")
    yield BadFile("no cases", lambda: encoded(_without("cases")), 422, "report_invalid", "cases")
    yield BadFile("bad suite", lambda: encoded(report("P", suite=_suite())), 422, "report_invalid", "suite.scenarios")
    yield BadFile("member twice", lambda: whole[:-1] + b',"runId":"x"}', 422, "member_twice", "runId")
    yield BadFile("trailing data", lambda: whole + b"{}", 400, "not_json", "")


def _miscounted() -> dict[str, Any]:
    made = report("PF")
    return made | {"summary": made["summary"] | {"passed": 2, "failed": 0}}


def _without(name: str) -> dict[str, Any]:
    return {member: value for member, value in report("P").items() if member != name}


def _suite() -> dict[str, Any]:
    return {"schemaVersion": 1, "id": "desk", "name": "Desk", "scenarios": []}


BAD_FILES = tuple(_files())
BAD_NAMES = [bad.name for bad in BAD_FILES]


@cache
def hostile_report() -> dict[str, Any]:
    """Return a valid report in which every text is as unpleasant as the format lets it be."""
    text = f"<script>alert(1)</script>{OVERRIDE}{NUL}{SURROGATE} javascript:alert(1) \ufffe0000 %_\\'\""
    results = [
        {
            "id": f"{NUL}{SURROGATE}",
            "label": text,
            "passed": False,
            "actual": {"present": True, "value": text},
            "expected": {text: [text, 2**70, -0.0, 1e300]},
            "evidence": {NUL: SURROGATE, "__proto__": {"gone": True}},
        }
    ]
    long = "i" * 160
    failed = turn("failed", step_id=text, assertions=results, observation={"text": "x" * 2_000_000, text: text})
    return report(
        cases=[
            case("failed", scenario_id=text, name=text, variants={text: text}, turns=[failed], errorCode=text),
            case("skipped", scenario_id=long, name=long, skipReason=text, id=text, threadId=text),
        ],
        suite=_hostile_suite(text, long),
        runId=f"run {text}",
        target={"id": f"target {text}", "fingerprint": text},
        fingerprint=text,
        startedAt=text,
        finishedAt=text,
        assertions=results,
    )


def _hostile_suite(text: str, long: str) -> dict[str, Any]:
    step = {"id": long, "input": {text: text}, "assertions": []}
    scenario = {"id": long, "name": text, "writePolicy": "read_only", "tags": [text[:160]], "steps": [step]}
    return {"schemaVersion": 1, "id": long, "name": text, "scenarios": [scenario], "metadata": {text: text}}
