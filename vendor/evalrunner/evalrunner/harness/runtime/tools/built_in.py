"""All built-in tools of a workspace."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from evalrunner.harness.runtime.tools.base import Tool
from evalrunner.harness.runtime.tools.files import ListTool, ReadTool, WriteTool
from evalrunner.harness.runtime.tools.patch import PatchTool
from evalrunner.harness.runtime.tools.search import SearchTool
from evalrunner.harness.runtime.tools.shell import ShellTool
from evalrunner.harness.runtime.tools.tree import Tree

BUILT_IN_IDS: Final = ("fs.read", "fs.list", "search.ripgrep", "fs.write", "patch.apply", "shell.exec")


def built_in_tools(
    workspace: Path, environment: Mapping[str, str] | None = None, allowed: Collection[str] | None = None
) -> dict[str, Tool]:
    """Give the tools by id, rooted at the workspace.

    ``environment`` is what commands see (None: ``shell.shell_environment``). ``allowed`` None: all tools; a call to one
    that is not allowed is a call to an unknown tool.
    """
    tree = Tree(workspace)
    tools: tuple[Tool, ...] = (
        ReadTool(tree),
        ListTool(tree),
        SearchTool(tree),
        WriteTool(tree),
        PatchTool(tree),
        ShellTool(workspace, environment),
    )
    ids = (tool.definition.tool_id for tool in tools)
    return {tool_id: tool for tool_id, tool in zip(ids, tools, strict=True) if allowed is None or tool_id in allowed}
