"""Calling tools in tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from evalrunner.data import Json
from evalrunner.harness.errors import ToolError
from evalrunner.harness.runtime.tools.base import Tool, ToolOutput


async def call(tool: Tool, **arguments: Json) -> ToolOutput:
    return await tool.invoke(arguments)


async def failure(tool: Tool, **arguments: Json) -> str:
    """Give the text of a call that must fail."""
    with pytest.raises(ToolError) as caught:
        await tool.invoke(arguments)
    return str(caught.value)


def names(folder: Path) -> list[str]:
    """Give what lies in a folder, hidden files too, by name."""
    return sorted(path.name for path in folder.iterdir())
