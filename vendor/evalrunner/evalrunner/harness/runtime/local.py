"""The local runtime: profiles of a configuration, tools rooted at a workspace."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from evalrunner.harness.errors import ConfigError, HarnessSetupError
from evalrunner.harness.runtime.base import SessionSpec
from evalrunner.harness.runtime.calls import CallRunner, NoHooks, NoTools
from evalrunner.harness.runtime.config import BUILT_IN_FAKE, FAKE, HarnessConfig, Profile
from evalrunner.harness.runtime.events import EventLog, new_id
from evalrunner.harness.runtime.fake import FakeProvider, FirstCall, stock_fake
from evalrunner.harness.runtime.model import Provider
from evalrunner.harness.runtime.session import LocalSession

Approvals: TypeAlias = Literal["deny", "allow", "wait"]

# A name without a profile has the sizes of a fake profile that gives none.
_UNKNOWN_SIZES = replace(BUILT_IN_FAKE, output_limit=256)


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """How a run uses its configuration.

    ``first_call`` lets the profile ``fake`` add one tool call to the first request of the run. ``tools`` names the
    built-in tools that exist at all (None: every one), ``environment`` is what child processes see (None: the tool's
    own rule).
    """

    workspace: Path
    approvals: Approvals = "deny"
    enable_mcp: bool = False
    enable_hooks: bool = False
    auto_compact_threshold: float | None = None
    first_call: FirstCall | None = None
    tools: Collection[str] | None = None
    environment: Mapping[str, str] | None = None


class LocalRuntime:
    """Answers scenarios in this process. HarnessSetupError when options and configuration do not go together."""

    def __init__(self, config: HarnessConfig, options: RuntimeOptions) -> None:
        if options.first_call is not None:
            config = _with_first_call(config)
        self._config, self._options = config, options
        self._workspace_id = new_id("wrk")
        self._fake = FakeProvider(options.first_call)

    def default_profile(self) -> str:
        return self._config.default_profile()

    async def start(self) -> None:
        """Nothing is shared yet."""

    async def open(self, spec: SessionSpec) -> LocalSession:
        profile = self._config.enabled_profile(spec.profile)
        log = EventLog(self._workspace_id)
        session = LocalSession(
            spec=spec,
            log=log,
            sizes=self._config.find_profile(spec.profile) or _UNKNOWN_SIZES,
            model=None if profile is None else self._provider(profile).open(profile),
            calls=self._calls(spec, log),
            hooks=NoHooks(),
            instructions=self._config.instructions,
        )
        await session.begin()
        return session

    async def close(self) -> None:
        await self._fake.close()

    def _provider(self, profile: Profile) -> Provider:
        if profile.is_fake:
            return self._fake
        raise ConfigError(f"profile {profile.name}: the provider {profile.provider!r} is not known")

    def _calls(self, spec: SessionSpec, log: EventLog) -> CallRunner:
        return NoTools(log)


def _with_first_call(config: HarnessConfig) -> HarnessConfig:
    if config.enabled_profile(FAKE) is None:
        raise HarnessSetupError("--fake-emit-tool-call needs an enabled profile named `fake`")
    return stock_fake(config)
