"""The local runtime: profiles of a configuration, tools rooted at a workspace."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalrunner.harness.errors import ConfigError, HarnessSetupError
from evalrunner.harness.runtime.approvals import Approvals, Approver, ToolRunner
from evalrunner.harness.runtime.base import SessionSpec
from evalrunner.harness.runtime.calls import Hooks, NoHooks
from evalrunner.harness.runtime.config import BUILT_IN_FAKE, FAKE, HarnessConfig, Profile
from evalrunner.harness.runtime.events import EventLog, new_id
from evalrunner.harness.runtime.fake import FakeProvider, FirstCall, stock_fake
from evalrunner.harness.runtime.hooks import CommandHooks
from evalrunner.harness.runtime.model import Provider
from evalrunner.harness.runtime.session import LocalSession
from evalrunner.harness.runtime.tools.base import Tool
from evalrunner.harness.runtime.tools.built_in import built_in_tools

if TYPE_CHECKING:
    from evalrunner.harness.runtime.mcp_servers import McpServers

# A name without a profile has the sizes of a fake profile that gives none.
_UNKNOWN_SIZES = replace(BUILT_IN_FAKE, output_limit=256)


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """How a run uses its configuration.

    ``first_call`` lets the profile ``fake`` add one tool call to the first request of the run. ``tools`` names the
    built-in tools that exist at all (None: every one), ``environment`` is what child processes see: commands of the
    shell tool, hooks, MCP servers (None: each kind's own rule). ``variables`` is where the configuration's names of
    variables are looked up, keys above all; child processes do not see it (None: our own environment).
    """

    workspace: Path
    approvals: Approvals = "deny"
    enable_mcp: bool = False
    enable_hooks: bool = False
    auto_compact_threshold: float | None = None
    first_call: FirstCall | None = None
    tools: Collection[str] | None = None
    environment: Mapping[str, str] | None = None
    variables: Mapping[str, str] | None = None


class LocalRuntime:
    """Answers scenarios in this process. HarnessSetupError when options and configuration do not go together."""

    def __init__(self, config: HarnessConfig, options: RuntimeOptions) -> None:
        if options.first_call is not None:
            config = _with_first_call(config)
        self._config, self._options = config, options
        self._workspace_id = new_id("wrk")
        self._fake = FakeProvider(options.first_call)
        self._chat: Provider | None = None
        self._servers = _make_servers(config, options)

    def default_profile(self) -> str:
        return self._config.default_profile()

    async def start(self) -> None:
        """Start the MCP servers, if they are enabled."""
        if self._servers is not None:
            await self._servers.start()

    async def open(self, spec: SessionSpec) -> LocalSession:
        profile = self._config.enabled_profile(spec.profile)
        log = EventLog(self._workspace_id)
        hooks = self._hooks(spec)
        threshold = self._options.auto_compact_threshold
        session = LocalSession(
            spec=spec,
            log=log,
            sizes=self._config.find_profile(spec.profile) or _UNKNOWN_SIZES,
            model=None if profile is None else self._provider(profile).open(profile),
            calls=ToolRunner(self._tools(spec), self._approver(spec), log, hooks),
            hooks=hooks,
            instructions=self._config.instructions,
            compact_threshold=self._config.auto_compact_threshold if threshold is None else threshold,
        )
        await session.begin()
        return session

    async def close(self) -> None:
        """End the MCP servers and the connections to models."""
        try:
            if self._servers is not None:
                await self._servers.close()
        finally:
            await self._fake.close()
            if self._chat is not None:
                await self._chat.close()

    def _provider(self, profile: Profile) -> Provider:
        if profile.is_fake:
            return self._fake
        if self._chat is None:
            from evalrunner.harness.runtime.chat import ChatProvider  # an HTTP client takes its time to load

            self._chat = ChatProvider(self._options.variables)
        return self._chat

    def _tools(self, spec: SessionSpec) -> dict[str, Tool]:
        tools = built_in_tools(spec.workspace, self._options.environment, self._options.tools)
        return tools if self._servers is None else {**tools, **self._servers.tools()}

    def _approver(self, spec: SessionSpec) -> Approver:
        trusted = frozenset[str]() if self._servers is None else self._servers.trusted
        return Approver(spec, self._options.approvals, trusted)

    def _hooks(self, spec: SessionSpec) -> Hooks:
        if not (self._options.enable_hooks and self._config.hooks_feature):
            return NoHooks()
        return CommandHooks(self._config.hooks, spec.workspace, self._options.environment)


def _make_servers(config: HarnessConfig, options: RuntimeOptions) -> McpServers | None:
    """Get the MCP servers ready, if they are enabled and there are any; ConfigError without the ``mcp`` package."""
    if not (options.enable_mcp and config.mcp_servers):
        return None
    try:
        from evalrunner.harness.runtime.mcp_servers import McpServers  # an extra, and slow to load
    except ImportError:
        raise ConfigError("MCP servers need the package mcp: install evalrunner[harness]") from None
    variables = os.environ if options.variables is None else options.variables
    return McpServers(config.mcp_servers, options.workspace, options.environment, variables)


def _with_first_call(config: HarnessConfig) -> HarnessConfig:
    if config.enabled_profile(FAKE) is None:
        raise HarnessSetupError("--fake-emit-tool-call needs an enabled profile named `fake`")
    return stock_fake(config)
