"""The configuration of the local runtime: profiles, MCP servers, hooks.

One file decides: the one that was named, else a fixed name inside the workspace, else none. Neither the home folder nor
the environment adds a profile: a benchmark must not depend on who runs it. The built-in ``fake`` stands first;
profiles of the file replace it or follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, cast

from evalrunner.data import JsonObject
from evalrunner.harness.errors import ConfigError
from evalrunner.harness.files import read_text
from evalrunner.harness.runtime.tables import Table
from evalrunner.tomltext import TomlTextError, parse_toml

FIXED_NAMES: Final = (".kairox/config.toml", "evalrunner.toml")
FAKE: Final = "fake"
STOCK_ANSWER: Final = "hello from Kairox"
DEFAULT_THRESHOLD: Final = 0.85
_PREFERRED: Final = ("fast", "local-code")
_FAKE_SIZES: Final = (4096, 256)
_CHAT_SIZES: Final = (128_000, 16_384)
_TRANSPORTS: Final = ("stdio", "sse", "streamable_http")


@dataclass(frozen=True, slots=True)
class FakeCall:
    """A tool call that a scripted answer requests; without an id it gets one from its place."""

    tool_id: str
    arguments: JsonObject
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model request; a cache figure that is not known is None."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class FakeStep:
    """What a scripted profile does with one model request, in this order."""

    delay_ms: int = 0
    text: str = ""
    error: str | None = None
    tool_calls: tuple[FakeCall, ...] = ()
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """One way to reach a model. ``response`` and ``script`` mean something for ``fake``, the rest for chat."""

    name: str
    provider: str
    model_id: str
    context_window: int
    output_limit: int
    enabled: bool = True
    response: str = STOCK_ANSWER
    script: tuple[FakeStep, ...] = ()
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_key_env: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    extra_params: JsonObject = field(default_factory=dict)
    request_timeout_secs: float | None = None

    @property
    def is_fake(self) -> bool:
        return self.provider == FAKE

    @property
    def budget(self) -> int:
        """Tokens that a context may have beside the answer and its reserve (SPEC: window − reservation, at least 0)."""
        return max(0, self.context_window - (self.output_limit + max(self.output_limit // 10, 2000)))


@dataclass(frozen=True, slots=True)
class McpServer:
    """One MCP server; ``command`` for stdio, ``url`` for the others."""

    id: str
    transport: Literal["stdio", "sse", "streamable_http"]
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    api_key_env: str | None = None
    keep_alive: bool = False
    idle_timeout_secs: float = 300.0
    auto_restart: bool = True
    max_restart_attempts: int = 3
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Hook:
    """A command that is told of an event of a session."""

    id: str
    event: str
    command: str
    matcher: str = "*"
    timeout_secs: float = 600.0
    enabled: bool = True
    status_message: str | None = None


BUILT_IN_FAKE: Final = Profile(name=FAKE, provider=FAKE, model_id=FAKE, context_window=4096, output_limit=2048)


@dataclass(frozen=True, slots=True)
class HarnessConfig:
    """All that a configuration file says; the default is what holds without one."""

    profiles: tuple[Profile, ...] = (BUILT_IN_FAKE,)
    auto_compact_threshold: float = DEFAULT_THRESHOLD
    instructions: str | None = None
    mcp_servers: tuple[McpServer, ...] = ()
    hooks: tuple[Hook, ...] = ()
    hooks_feature: bool = True

    def find_profile(self, name: str) -> Profile | None:
        """Give the profile of a name, enabled or not."""
        return next((profile for profile in self.profiles if profile.name == name), None)

    def enabled_profile(self, name: str) -> Profile | None:
        profile = self.find_profile(name)
        return profile if profile is not None and profile.enabled else None

    def default_profile(self) -> str:
        """Name the profile for rows and runs that name none."""
        enabled = [profile.name for profile in self.profiles if profile.enabled]
        return next((name for name in (*_PREFERRED, *enabled) if name in enabled), FAKE)

    def with_profile(self, profile: Profile) -> HarnessConfig:
        """Put a profile in the place of the one of the same name, or at the end."""
        return replace(self, profiles=_layer(self.profiles, [profile]))


def load_config(named: Path | None, workspace: Path) -> HarnessConfig:
    """Read the configuration of a run; ConfigError says what is wrong, a file that was named must exist."""
    path = named if named is not None else _in_workspace(workspace)
    if path is None:
        return HarnessConfig()
    try:
        text = read_text(path)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None
    try:
        return parse_config(text)
    except ConfigError as error:
        raise ConfigError(f"{path}: {str(error).removeprefix('config error: ')}") from None


def parse_config(text: str) -> HarnessConfig:
    """Read the text of a configuration; unknown keys are ignored."""
    try:
        values = parse_toml(text)
    except TomlTextError as error:
        raise ConfigError(f"not TOML: {error}") from None
    table = Table(values)
    threshold = table.table("context").number("auto_compact_threshold")
    return HarnessConfig(
        profiles=_layer((BUILT_IN_FAKE,), [_profile(*entry) for entry in table.table("profiles").named_tables()]),
        auto_compact_threshold=DEFAULT_THRESHOLD if threshold is None else threshold,
        instructions=table.optional_text("instructions"),
        mcp_servers=tuple(_server(*entry) for entry in table.table("mcp_servers").named_tables()),
        hooks=tuple(
            _hook(event, *entry)
            for event, hooks in table.table("hooks").named_tables()
            for entry in hooks.named_tables()
        ),
        hooks_feature=table.table("features").flag("hooks", True),
    )


def _in_workspace(workspace: Path) -> Path | None:
    return next((workspace / name for name in FIXED_NAMES if (workspace / name).is_file()), None)


def _layer(below: Sequence[Profile], above: Sequence[Profile]) -> tuple[Profile, ...]:
    """A profile replaces one of the same name whole, keeping its place; new ones are appended."""
    return tuple({profile.name: profile for profile in (*below, *above)}.values())


def _profile(name: str, table: Table) -> Profile:
    provider = table.text("provider")
    window, limit = _FAKE_SIZES if provider == FAKE else _CHAT_SIZES
    context_window, output_limit = table.whole("context_window"), table.whole("output_limit")
    response = table.optional_text("response")
    return Profile(
        name=name,
        provider=provider,
        model_id=table.text("model_id"),
        context_window=window if context_window is None else context_window,
        output_limit=limit if output_limit is None else output_limit,
        enabled=table.flag("enabled", True),
        response=STOCK_ANSWER if response is None else response,
        script=tuple(_step(step) for step in table.tables("script")),
        base_url=table.optional_text("base_url"),
        api_key=table.optional_text("api_key"),
        api_key_env=table.optional_text("api_key_env"),
        temperature=table.number("temperature"),
        top_p=table.number("top_p"),
        headers=table.text_map("headers"),
        extra_params=table.data("extra_params"),
        request_timeout_secs=table.number("request_timeout_secs"),
    )


def _step(table: Table) -> FakeStep:
    return FakeStep(
        delay_ms=table.whole("delay_ms") or 0,
        text=table.optional_text("text") or "",
        error=table.optional_text("error"),
        tool_calls=tuple(_call(call) for call in table.tables("tool_calls")),
        usage=_usage(table.table("usage")) if "usage" in table else None,
    )


def _call(table: Table) -> FakeCall:
    return FakeCall(table.text("tool_id"), table.data("arguments"), table.optional_text("id"))


def _usage(table: Table) -> Usage:
    return Usage(
        input_tokens=table.whole("input_tokens") or 0,
        output_tokens=table.whole("output_tokens") or 0,
        cache_creation_input_tokens=table.whole("cache_creation_input_tokens"),
        cache_read_input_tokens=table.whole("cache_read_input_tokens"),
    )


def _server(id: str, table: Table) -> McpServer:
    if not id or "." in id:
        raise ConfigError(f"{table.place}: the name of a server stands in the ids of its tools and has no dots")
    transport = table.text("type")
    if transport not in _TRANSPORTS:
        raise ConfigError(f"{table.place}.type: one of {', '.join(_TRANSPORTS)} expected, got {transport!r}")
    idle, restarts = table.number("idle_timeout_secs"), table.whole("max_restart_attempts")
    return McpServer(
        id=id,
        transport=cast(Literal["stdio", "sse", "streamable_http"], transport),
        command=table.text("command") if transport == "stdio" else table.optional_text("command"),
        args=table.texts("args"),
        env=table.text_map("env"),
        cwd=table.optional_text("cwd"),
        url=table.optional_text("url") if transport == "stdio" else table.text("url"),
        headers=table.text_map("headers"),
        api_key_env=table.optional_text("api_key_env"),
        keep_alive=table.flag("keep_alive", False),
        idle_timeout_secs=300.0 if idle is None else idle,
        auto_restart=table.flag("auto_restart", True),
        max_restart_attempts=3 if restarts is None else restarts,
        trusted=table.flag("trusted", False),
    )


def _hook(event: str, id: str, table: Table) -> Hook:
    timeout = table.number("timeout_secs")
    return Hook(
        id=id,
        event=event,
        command=table.text("command"),
        matcher=table.optional_text("matcher") or "*",
        timeout_secs=600.0 if timeout is None else timeout,
        enabled=table.flag("enabled", True),
        status_message=table.optional_text("status_message"),
    )
