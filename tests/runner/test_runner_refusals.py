"""What is refused before anything is opened or published, and limits that are just accepted."""

import asyncio
from typing import Any

import pytest
from evalrunner import EvaluationError, run_evaluation

from tests.runner.edge import SUITE, TARGET
from tests.runner.replay import read_corpus, replay


@pytest.mark.parametrize("vector", read_corpus("run-errors.json"), ids=lambda vector: vector["name"])
def test_a_run_is_refused_or_accepted_as_recorded(vector: dict[str, Any]) -> None:
    seen = replay(vector)

    if vector.get("ok"):
        assert seen.data["status"] == vector["status"]
    else:
        assert seen.error is not None
        assert (seen.error.code, list(seen.error.paths)) == (vector["code"], vector["paths"])
    assert len(seen.checkpoints) == vector["checkpoints"]
    assert len(seen.log.opened) == vector["opened"]


class Adapter:
    id, version = "never", "1"

    async def open(self, context: Any) -> Any:
        raise AssertionError("opened although the run is refused")


@pytest.mark.parametrize(
    "options",
    [
        {"concurrency": True},
        {"timeout_ms": "5"},
        {"max_failures": float("nan")},
        {"evaluators": ["judge"]},
        {"on_event": "print"},
        {"target": None},
        {"target": {"id": "bot", "fingerprint": "1", "since": object()}},
        {"adapter": None},
    ],
    ids=str,
)
def test_options_of_a_wrong_kind_are_refused_by_code(options: dict[str, Any]) -> None:
    given: dict[str, Any] = {"suite": SUITE, "target": TARGET, "adapter": Adapter()} | options

    with pytest.raises(EvaluationError) as refused:
        asyncio.run(run_evaluation(**given))

    assert refused.value.code == "EVALUATION_OPTIONS_INVALID"
