"""Write a synthetic report of any size as a stream: three turns a case, four results a turn, about 7.1 KB a case.

    python -m tests.benchmarks.generate_reports --cases 30000 --version 2 --out report.json

The same options give the same bytes, and every version of a seed has the same suite. The report holds to every rule of
the format. A twentieth of the cases fail by chance; from each version to the next a fiftieth of the scenario variants
break for good.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

STATUSES = ("total", "pending", "running", "passed", "failed", "error", "skipped", "blocked", "cancelled")
TURNS, RESULTS, SCENARIOS, OBSERVATION_BYTES = 3, 4, 2000, 1500
FLAKY, BREAKING = 0.05, 0.02
TEXT = (
    "your booking was moved to the later train please check the seat and confirm before noon refund invoice "
    "Straße garçon señor żółw οδός поезд 電車 予約 기차 قطار רכבת 🚆 🎫 – „Fahrkarte“ seat window platform"
)
WORDS = TEXT.split()
PATHS: Sequence[tuple[list[str | int], str]] = (
    (["answer", "text"], "contains"),
    (["calls", 0, "name"], "equals"),
    (["usage", "tokens"], "lte"),
    (["finish"], "equals"),
)

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Shape:
    """How many scenarios share the cases, and how many variants each has; what is left over are repetitions."""

    scenarios: int = SCENARIOS
    variants: int = 1

    def place(self, number: int) -> tuple[int, int, int]:
        """Return scenario, variant and repetition of a case, each counted from 0."""
        pair, scenario = divmod(number, self.scenarios)
        return scenario, pair % self.variants, pair // self.variants


USUAL = Shape()


def report_parts(cases: int, *, seed: int = 1, version: int = 1, shape: Shape = USUAL) -> Iterator[str]:
    """Give the text of a report piece by piece, one case at a time."""
    shape = replace(shape, scenarios=min(shape.scenarios, cases))
    draw = random.Random(seed)
    scenarios = [_scenario(draw, number, shape.variants) for number in range(shape.scenarios)]
    suite = {"schemaVersion": 1, "id": "rail-desk", "name": "Rail desk", "scenarios": scenarios}
    head = {
        "schemaVersion": 1,
        "runId": f"bench-{seed}-{version}-{cases}",
        "suite": suite,
        "fingerprint": f"{seed:064x}",
        "target": {"id": "rail.agent", "fingerprint": f"v{version}"},
        "startedAt": "2026-01-05T08:00:00.000Z",
        "finishedAt": "2026-01-05T09:00:00.000Z",
        "status": "completed",
        "assertions": [],
    }
    yield encode(head)[:-1] + ',"cases":['
    failed = 0
    for number in range(cases):
        draw = random.Random(f"{seed}/{version}/{number}")
        fails = draw.random() < FLAKY or _is_broken(seed, version, shape.place(number)[:2])
        failed += fails
        case = _case(draw, scenarios[shape.place(number)[0]], shape.place(number), number, fails)
        yield ("," if number else "") + encode(case)
    counts = dict.fromkeys(STATUSES, 0) | {"total": cases, "passed": cases - failed, "failed": failed}
    yield f'],"summary":{encode(counts)}}}\n'


def write_report(path: Path, cases: int, *, seed: int = 1, version: int = 1, shape: Shape = USUAL) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(report_parts(cases, seed=seed, version=version, shape=shape))


def _is_broken(seed: int, version: int, place: tuple[int, ...]) -> bool:
    return any(random.Random(f"{seed}/broken/{each}/{place}").random() < BREAKING for each in range(2, version + 1))


def _sentence(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(WORDS, k=words))


def _scenario(draw: random.Random, number: int, variants: int) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [
        {
            "id": f"s{turn + 1}",
            "input": {"text": f"Request {number}, turn {turn + 1}: {_sentence(draw, 14)}?"},
            "assertions": [_assertion(turn, index) for index in range(RESULTS)],
        }
        for turn in range(TURNS)
    ]
    if variants > 1:
        steps[0]["variants"] = [{"id": _variant(each), "input": steps[0]["input"]} for each in range(variants)]
    return {
        "id": f"rail-{number:05d}",
        "name": f"Rail request {number}: {_sentence(draw, 4)}",
        "tags": draw.sample(["smoke", "nightly", "tools", "refund"], 2),
        "writePolicy": "read_only",
        "steps": steps,
    }


def _assertion(turn: int, index: int) -> dict[str, Any]:
    path, operator = PATHS[index]
    return {
        "id": f"t{turn + 1}-a{index + 1}",
        "kind": "check",
        "path": path,
        "operator": operator,
        "value": _expected(index),
    }


def _expected(index: int) -> Any:
    return ("booking", "find_train", 900, "stop")[index]


def _variant(number: int) -> str:
    return f"way-{number + 1}"


def _case(
    draw: random.Random, scenario: dict[str, Any], place: tuple[int, int, int], number: int, fails: bool
) -> dict[str, Any]:
    has_variants = "variants" in scenario["steps"][0]
    failing = draw.randrange(TURNS) if fails else -1
    turns = [_turn(draw, step, number, index == failing) for index, step in enumerate(scenario["steps"])]
    return {
        "id": f"{draw.getrandbits(256):064x}",
        "scenarioId": scenario["id"],
        "name": scenario["name"],
        "repetition": place[2],
        "variants": {"s1": _variant(place[1])} if has_variants else {},
        "threadId": f"thread-{number:024x}",
        "status": "failed" if fails else "passed",
        "turns": turns,
        "assertions": [],
    }


def _turn(draw: random.Random, step: dict[str, Any], number: int, fails: bool) -> dict[str, Any]:
    observation = _observation(draw, "length" if fails else "stop")
    found = ("booking " + _sentence(draw, 8), "find_train", observation["usage"]["tokens"], observation["finish"])
    results = [
        {
            "id": check["id"],
            "passed": not (fails and index == RESULTS - 1),
            "actual": {"present": True, "value": found[index]},
            "expected": check["value"],
        }
        for index, check in enumerate(step["assertions"])
    ]
    return {
        "stepId": step["id"],
        "turnId": f"turn-{number}-{step['id']}",
        "input": step["input"],
        "status": "failed" if fails else "passed",
        "observation": observation,
        "assertions": results,
        "durationMs": draw.randint(120, 9000),
    }


def _observation(draw: random.Random, finish: str) -> dict[str, Any]:
    call = {"name": "find_train", "arguments": {"query": _sentence(draw, 3), "limit": draw.randint(1, 50)}}
    observation: dict[str, Any] = {
        "answer": {"role": "assistant", "text": "booking " + _sentence(draw, 18)},
        "calls": [call],
        "usage": {"tokens": draw.randint(20, 800), "costUsd": round(draw.random() / 50, 6)},
        "finish": finish,
        "passages": [],
    }
    missing = OBSERVATION_BYTES - len(encode(observation).encode())
    while missing > 100:
        passage = {
            "uri": f"doc://{draw.randint(1, 99999)}",
            "score": round(draw.random(), 4),
            "text": _sentence(draw, 22),
        }
        observation["passages"].append(passage)
        missing -= len(encode(passage).encode()) + 1
    return observation


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a synthetic report.")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--version", type=int, default=1)
    parser.add_argument("--scenarios", type=int, default=SCENARIOS)
    parser.add_argument("--variants", type=int, default=1, help="of each scenario's first step")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    shape = Shape(options.scenarios, options.variants)
    write_report(options.out, options.cases, seed=options.seed, version=options.version, shape=shape)


if __name__ == "__main__":
    main()
