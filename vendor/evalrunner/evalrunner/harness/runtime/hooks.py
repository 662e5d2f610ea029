"""Hooks: commands of the configuration that are told of what happens in a session."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from evalrunner.data import JsonObject, thaw
from evalrunner.harness.files import os_text
from evalrunner.harness.runtime.commands import Ended, run_shell
from evalrunner.harness.runtime.config import Hook

_KEPT_BYTES: Final = 2000
_ALWAYS: Final = ("", "*")


class CommandHooks:
    """Runs all hooks that fit at the same time and waits for them; how they end changes nothing.

    They run in the workspace and see ``environment`` (None: our own). A hook that fails is a warning.
    """

    def __init__(self, hooks: Sequence[Hook], workspace: Path, environment: Mapping[str, str] | None = None) -> None:
        self._hooks = [hook for hook in hooks if hook.enabled]
        self._workspace, self._environment = workspace, environment

    async def fire(self, event: str, matcher: str, payload: JsonObject) -> None:
        fitting = [hook for hook in self._hooks if hook.event == event and fits(hook, matcher)]
        if not fitting:
            return
        told = json.dumps({"event": event, "matcher": matcher, "payload": thaw(payload)}, ensure_ascii=False)
        data = told.encode("utf-8", "backslashreplace")
        async with asyncio.TaskGroup() as group:
            for hook in fitting:
                group.create_task(self._run(hook, data))

    async def _run(self, hook: Hook, told: bytes) -> None:
        fault = await self._fault(hook, told)
        if fault is not None:
            print(f"warning: hook {hook.event}.{hook.id}: {fault}", file=sys.stderr)  # noqa: T201

    async def _fault(self, hook: Hook, told: bytes) -> str | None:
        """Run one hook; gives what went wrong with it."""
        try:
            ended = await run_shell(
                hook.command,
                self._workspace,
                self._environment,
                limit_s=hook.timeout_secs,
                output_bytes=_KEPT_BYTES,
                stdin=told,
            )
        except TimeoutError:
            return f"took longer than {hook.timeout_secs:g} s and was killed"
        except OSError as error:
            return os_text(error)
        except ValueError as error:
            return str(error)
        return _describe(ended) if ended.code else None


def fits(hook: Hook, matcher: str) -> bool:
    """Tell whether a hook is for what happened: its matcher is a list of exact values, or fits always."""
    wanted = hook.matcher.strip()
    return wanted in _ALWAYS or matcher in (value.strip() for value in wanted.split("|"))


def _describe(ended: Ended) -> str:
    said = ended.stderr.last().strip() or ended.stdout.last().strip()
    return f"exit code {ended.code}" + (f": {said}" if said else "")
