"""Targets of kind ``harness``: what of scenario files, profiles, tools and variables an operator has allowed."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from evalrunner.errors import AdapterSetupError
from evalrunner.harness.errors import ConfigError
from evalrunner.harness.policies import APPROVAL_POLICIES, SANDBOX_KINDS
from evalrunner.harness.runtime.config import HarnessConfig, load_config

from reports.domain.harness.options import (
    CHANGING_TOOLS,
    READING_TOOLS,
    USUAL_APPROVALS,
    USUAL_SANDBOXES,
    Allowed,
)
from reports.runnable.entries import RunnableAdapter, TargetUnusable
from reports.runnable.tables import Table

_CHILD_VARIABLES = ("PATH", "LANG")
_DEFAULTS = {"PATH": os.defpath, "LANG": "C.UTF-8"}


@dataclass(frozen=True)
class HarnessMaker:
    """``config`` names the file with the profiles (None: the built-in ``fake`` alone), ``workspace`` a folder of which
    each run gets a copy (None: an empty one). ``tools`` are allowed beyond those that read. ``environment`` names the
    variables that child processes see beside PATH, HOME, LANG and TMPDIR. An empty list of profiles allows all.
    """

    config: Path | None = None
    workspace: Path | None = None
    profiles: tuple[str, ...] = ()
    approval_policies: tuple[str, ...] = USUAL_APPROVALS
    sandbox_policies: tuple[str, ...] = USUAL_SANDBOXES
    tools: tuple[str, ...] = ()
    approvals: Literal["deny", "allow"] = "deny"
    environment: tuple[str, ...] = ()
    post_run_commands: bool = False
    mcp: bool = False
    hooks: bool = False
    trace: bool = True

    def make(self, fingerprint: str) -> RunnableAdapter:
        """Refuse: the harness runs whole files by itself."""
        raise AdapterSetupError("its rows are run anew as a whole; such a run is neither resumed nor retried")

    def known_evaluators(self) -> Collection[str] | None:
        """Leave it open: what rows expect is judged by the harness itself."""
        return None

    def read_config(self) -> HarnessConfig:
        """Read the operator's configuration, never one in a workspace; TargetUnusable says what is wrong with it."""
        if self.config is None:
            return HarnessConfig()
        try:
            state = self.config.stat()
            return _read_config(self.config, state.st_mtime_ns, state.st_size)
        except OSError as error:
            raise TargetUnusable(f"its configuration {self.config.name} cannot be read: {error.strerror}") from error
        except ConfigError as error:
            raise TargetUnusable(f"its configuration cannot be used: {error}") from error

    def allowed(self) -> Allowed:
        """Return what a run may ask for. Raises TargetUnusable."""
        enabled = [profile.name for profile in self.read_config().profiles if profile.enabled]
        names = tuple(name for name in enabled if not self.profiles or name in self.profiles)
        if not names:
            raise TargetUnusable("its configuration enables none of the profiles that it allows")
        return Allowed(names, self.approval_policies, self.sandbox_policies)

    def default_profile(self, allowed: Allowed) -> str:
        name = self.read_config().default_profile()
        return name if name in allowed.profiles else allowed.profiles[0]

    @property
    def all_tools(self) -> tuple[str, ...]:
        return (*READING_TOOLS, *self.tools)

    def child_environment(self, *, home: Path, temporary: Path) -> dict[str, str]:
        """Return all that a child process sees: never the site's own variables, secrets of its settings above all."""
        known = {name: os.environ.get(name, _DEFAULTS[name]) for name in _CHILD_VARIABLES}
        listed = {name: os.environ[name] for name in self.environment if name in os.environ}
        return known | {"HOME": str(home), "TMPDIR": str(temporary)} | listed


@lru_cache(maxsize=8)
def _read_config(path: Path, changed_ns: int, size: int) -> HarnessConfig:
    return load_config(path, path.parent)


def read_harness(table: Table, folder: Path) -> HarnessMaker:
    """Read the keys of a target of kind ``harness``; faults are noted in the table."""
    approvals = table.choice("approvals", "deny", "allow") if table.has("approvals") else "deny"
    return HarnessMaker(
        config=_read_path(table, "config", folder, is_folder=False),
        workspace=_read_path(table, "workspace", folder, is_folder=True),
        profiles=table.texts("profiles"),
        approval_policies=_read_names(table, "approval_policies", APPROVAL_POLICIES, USUAL_APPROVALS),
        sandbox_policies=_read_names(table, "sandbox_policies", SANDBOX_KINDS, USUAL_SANDBOXES),
        tools=_read_names(table, "tools", CHANGING_TOOLS, ()),
        approvals="allow" if approvals == "allow" else "deny",
        environment=table.texts("environment"),
        post_run_commands=table.flag("post_run_commands"),
        mcp=table.flag("mcp"),
        hooks=table.flag("hooks"),
        trace=table.flag("trace", default=True),
    )


def _read_path(table: Table, key: str, folder: Path, *, is_folder: bool) -> Path | None:
    if not table.has(key):
        return None
    path = folder / table.text(key)
    if not (path.is_dir() if is_folder else path.is_file()):
        table.complain(key, f"there is no {'folder' if is_folder else 'file'} {path}")
    return path


def _read_names(table: Table, key: str, known: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
    names = table.texts(key)
    for index, name in enumerate(names):
        if name not in known:
            table.complain(f"{key}.{index}", f"must be one of {', '.join(known)}")
    return names or default
