"""Approval and sandbox policies: their spellings, and what they say of a tool call.

``approval_policy`` says when somebody must be asked, ``sandbox_policy`` what is possible at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from evalrunner.data import PlainObject

ApprovalPolicy: TypeAlias = Literal["never", "on_request", "always"]
SandboxKind: TypeAlias = Literal["read_only", "workspace_write", "danger_full_access"]

APPROVAL_POLICIES: Final[tuple[ApprovalPolicy, ...]] = ("never", "on_request", "always")
SANDBOX_KINDS: Final[tuple[SandboxKind, ...]] = ("read_only", "workspace_write", "danger_full_access")


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """What a session may do at all; the last two fields mean something for ``workspace_write`` alone."""

    kind: SandboxKind = "workspace_write"
    network_access: bool = False
    writable_roots: tuple[str, ...] = ()

    def to_data(self) -> PlainObject:
        """Give the JSON form that scenario rows have."""
        if self.kind != "workspace_write":
            return {"kind": self.kind}
        return {
            "kind": self.kind,
            "network_access": self.network_access,
            "writable_roots": list(self.writable_roots),
        }


DEFAULT_APPROVAL: Final[ApprovalPolicy] = "on_request"
DEFAULT_SANDBOX: Final = SandboxPolicy()
