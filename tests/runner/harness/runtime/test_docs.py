"""The document of the runtime names everything that can be set, and its limits are those of the code."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import evalrunner
import pytest
from evalrunner.harness.runtime import chat, chat_wire, session
from evalrunner.harness.runtime.config import FakeCall, FakeStep, Hook, McpServer, Profile, Usage
from evalrunner.harness.runtime.local import RuntimeOptions
from evalrunner.harness.runtime.tools import base, shell, tree
from evalrunner.harness.runtime.tools.built_in import BUILT_IN_IDS, built_in_tools

TEXT = (Path(evalrunner.__file__).parents[1] / "docs" / "harness-runtime.md").read_text()
NOT_KEYS = {"name", "id", "event", "transport"}


@pytest.mark.parametrize("kind", [Profile, FakeStep, FakeCall, Usage, McpServer, Hook, RuntimeOptions])
def test_every_key_is_named(kind: type) -> None:
    keys = {field.name for field in dataclasses.fields(kind)} - NOT_KEYS

    assert [key for key in sorted(keys) if f"`{key}`" not in TEXT] == []


def test_every_tool_is_named_and_exists() -> None:
    assert list(built_in_tools(Path("/w"))) == list(BUILT_IN_IDS)
    assert [tool_id for tool_id in BUILT_IN_IDS if f"| `{tool_id}` |" not in TEXT] == []


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (base.MOST_OUTPUT_BYTES, "102,400 bytes"),
        (tree.MOST_FILE_BYTES / 2**20, "10 MiB"),
        (shell.LIMIT_S, "300 s"),
        (chat.IDLE_S, "90 s"),
        (chat.MOST_ANSWER_BYTES / 2**20, "16 MiB"),
        (chat_wire.MOST_CALLS, "128 tool calls"),
        (session.MOST_REQUESTS, "100 requests"),
    ],
)
def test_limits_are_those_of_the_code(value: float, written: str) -> None:
    assert written in TEXT
    assert float(written.split()[0].replace(",", "")) == value


def test_the_variables_of_commands_are_listed() -> None:
    assert f"{', '.join(shell.VARIABLES[:-1])} and {shell.VARIABLES[-1]}" in TEXT.replace("\n", " ")
