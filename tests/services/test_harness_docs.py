"""The examples of the documents about the scenario harness hold."""

import re
from pathlib import Path

from django.urls import reverse

from reports.domain.harness import cases
from reports.runnable import read_targets
from reports.runnable.harness import HarnessMaker

DOCS = Path(__file__).parents[2] / "docs"


def test_the_example_of_a_target_is_a_target(tmp_path: Path) -> None:
    text = (DOCS / "targets.md").read_text(encoding="utf-8")
    [example] = [each for each in re.findall(r"```toml\n(.*?)```", text, re.DOTALL) if 'kind = "harness"' in each]
    for name in ("scenarios/smoke.jsonl", "kairox.toml", "fixtures/project/readme"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")

    [entry] = read_targets(example, folder=tmp_path)

    assert isinstance(entry.maker, HarnessMaker)
    assert entry.maker.tools == ("fs.write", "shell.exec")


def test_the_document_names_codes_and_addresses_that_exist() -> None:
    text = (DOCS / "harness.md").read_text(encoding="utf-8")
    for code in (cases.TURN_FAILED, cases.TIMED_OUT, cases.ROW_FAILED):
        assert f"`{code}`" in text
    assert reverse("api-1:compare_harness") in text
    assert reverse("api-1:import_run") in text
