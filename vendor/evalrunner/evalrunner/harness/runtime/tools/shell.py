"""The tool ``shell.exec``: a command in the workspace.

That a command was judged harmless (``evalrunner.harness.tool_effects``) does not make it so: this is a filter for
accidents. Whoever runs scenarios of strangers allows no shell, or runs the whole harness in a container.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from evalrunner.data import JsonObject
from evalrunner.harness.errors import ToolError
from evalrunner.harness.files import os_text
from evalrunner.harness.runtime.commands import Ended, run_shell
from evalrunner.harness.runtime.model import ToolDefinition
from evalrunner.harness.runtime.tools.base import MOST_OUTPUT_BYTES, Arguments, ToolOutput

LIMIT_S: Final = 300.0
VARIABLES: Final = ("PATH", "HOME", "LANG", "TERM", "USER", "TMPDIR", "SHELL")


def shell_environment() -> dict[str, str]:
    """Give what commands see of our environment when nobody says otherwise."""
    return {name: os.environ[name] for name in VARIABLES if name in os.environ}


class ShellTool:
    """Runs each command on its own: no working folder and no variable is kept."""

    definition = ToolDefinition(
        "shell.exec",
        "Run a shell command in the workspace.",
        {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "Command for sh -c"}},
            "required": ["command"],
        },
    )

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None, limit_s: float = LIMIT_S) -> None:
        self._folder, self._limit_s = folder, limit_s
        self._environment = shell_environment() if environment is None else environment

    async def invoke(self, arguments: JsonObject) -> ToolOutput:
        command = Arguments(arguments).text("command")
        if not command.strip():
            raise ToolError("empty command")
        try:
            ended = await run_shell(
                command, self._folder, self._environment, limit_s=self._limit_s, output_bytes=MOST_OUTPUT_BYTES
            )
        except TimeoutError:
            raise ToolError(f"the command took longer than {self._limit_s:g} s and was killed") from None
        except OSError as error:
            raise ToolError(f"the command cannot be started: {os_text(error)}") from None
        except ValueError:
            raise ToolError("the command cannot be started: it holds a null character") from None
        return _output(ended)


def _output(ended: Ended) -> ToolOutput:
    """Show both outputs; of a command that failed, the ends, since that is where it says why."""
    if ended.code == 0:
        text = ended.stdout.first() + ended.stderr.first()
        shown = text.encode()[:MOST_OUTPUT_BYTES]
    else:
        text = ended.stdout.last() + ended.stderr.last()
        head = f"exit code {ended.code}\n".encode()
        shown = head + text.encode()[-(MOST_OUTPUT_BYTES - len(head)) :]
    is_cut = ended.stdout.size + ended.stderr.size > MOST_OUTPUT_BYTES
    return ToolOutput(shown.decode("utf-8", "ignore"), ended.code, is_cut)
