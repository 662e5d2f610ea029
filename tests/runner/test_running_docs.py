"""The guide to running evaluations says what is true: its programs run and its table names every option."""

import inspect
import re
from pathlib import Path
from typing import Any

import evalrunner
from evalrunner import run_evaluation

GUIDE = (Path(evalrunner.__file__).parents[1] / "docs" / "running-evaluations.md").read_text()


def test_the_programs_of_the_guide_run() -> None:
    programs = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}

    for program in programs:
        exec(compile(program, "running-evaluations.md", "exec"), names)

    assert len(programs) == 3
    assert names["report"].summary.passed == 3


def test_the_table_names_every_option_with_its_default() -> None:
    table = GUIDE.split("## Options")[1].split("##")[0]
    rows = re.findall(r"^\| (`[^|]+) \| ([^|]+) \|", table, re.MULTILINE)
    documented = {name: _default(text) for names, text in rows for name in re.findall(r"`(\w+)`", names)}
    parameters = inspect.signature(run_evaluation).parameters.values()

    assert documented == {
        parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty
    }


def _default(text: str) -> int | bool | None:
    if text in ("none", "all"):
        return None
    return False if text == "`False`" else int(text.replace(",", ""))
