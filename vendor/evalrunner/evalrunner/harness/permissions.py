"""What approval and sandbox policy say of a tool call (SPEC 10). Nothing is looked up on disk."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from evalrunner.harness.policies import ApprovalPolicy, SandboxPolicy, read_sandbox
from evalrunner.harness.readers import Place

ALLOWED: Final = "allowed"
DENIED: Final = "denied"
ASK: Final = "ask"

BY_SANDBOX: Final = "sandbox"
SANDBOX_REJECTED: Final = "sandbox_rejected"
DESTRUCTIVE_EFFECT: Final = "destructive_effect"
NETWORK_REQUEST: Final = "network_request"
POLICY_ALWAYS: Final = "policy_always"
NEVER_ASKS: Final = "never_asks"
UNTRUSTED_MCP_SERVER: Final = "untrusted_mcp_server"


class Decision(NamedTuple):
    """``allowed``, ``denied`` or ``ask``, with the code of the reason."""

    decision: str
    reason: str | None = None


RUN: Final = Decision(ALLOWED)


def decide_permission(
    approval: ApprovalPolicy,
    sandbox: Mapping[str, Any],
    effect: Mapping[str, Any],
    *,
    workspace: str,
    trusted_servers: Collection[str] = (),
) -> dict[str, str | None]:
    """Decide on a call by its effect: ``{"decision", "reason"}``.

    ``sandbox`` is the JSON form of a scenario row (ReadError for another). ``effect`` has ``kind`` (read, write, shell,
    destructive, network, mcp) and, where they apply, ``paths``, ``destructive`` and ``server``.
    """
    policy = read_sandbox(sandbox, Place("sandbox"))
    return decide(approval, policy, effect, workspace=workspace, trusted_servers=trusted_servers)._asdict()


def decide(
    approval: ApprovalPolicy,
    sandbox: SandboxPolicy,
    effect: Mapping[str, Any],
    *,
    workspace: str,
    trusted_servers: Collection[str] = (),
) -> Decision:
    """Decide on a call: first what the sandbox says, then what the approval policy makes of it."""
    if effect["kind"] == "mcp":
        return _decide_mcp(approval, effect.get("server") in trusted_servers)
    is_destructive = effect["kind"] == "destructive" or (effect["kind"] == "shell" and bool(effect.get("destructive")))
    by_sandbox = _ask_sandbox(sandbox, effect, is_destructive, workspace)
    if by_sandbox.decision == DENIED:
        return by_sandbox
    if approval == "on_request" and is_destructive:
        return Decision(ASK, DESTRUCTIVE_EFFECT)
    if by_sandbox.decision == ASK:
        return Decision(DENIED, NEVER_ASKS) if approval == "never" else by_sandbox
    return Decision(ASK, POLICY_ALWAYS) if approval == "always" and effect["kind"] != "read" else RUN


def _decide_mcp(approval: ApprovalPolicy, is_trusted: bool) -> Decision:
    """MCP calls skip the sandbox."""
    if is_trusted:
        return RUN
    return Decision(DENIED if approval == "never" else ASK, UNTRUSTED_MCP_SERVER)


def _ask_sandbox(sandbox: SandboxPolicy, effect: Mapping[str, Any], is_destructive: bool, workspace: str) -> Decision:
    kind = effect["kind"]
    if kind == "read" or sandbox.kind == "danger_full_access":
        return RUN
    if sandbox.kind == "read_only":
        return Decision(DENIED, BY_SANDBOX)
    if is_destructive:
        return Decision(ASK, DESTRUCTIVE_EFFECT)
    if kind == "network" and not sandbox.network_access:
        return Decision(ASK, NETWORK_REQUEST)
    if kind == "write" and not _are_inside(effect.get("paths") or (), (workspace, *sandbox.writable_roots)):
        return Decision(ASK, SANDBOX_REJECTED)
    return RUN


def _are_inside(paths: Sequence[str], roots: Sequence[str]) -> bool:
    """Tell whether every path lies under a root, component by component, after ``..`` has been taken out."""
    folders = [_normal(root, roots[0]) for root in roots]
    return all(any(_normal(path, roots[0]).is_relative_to(folder) for folder in folders) for path in paths)


def _normal(path: str, workspace: str) -> PurePosixPath:
    return PurePosixPath(posixpath.normpath(posixpath.join(workspace, path)))
