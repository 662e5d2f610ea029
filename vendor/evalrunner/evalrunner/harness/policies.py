"""Approval and sandbox policies and their spellings (SPEC 11).

``approval_policy`` says when somebody must be asked, ``sandbox_policy`` what is possible at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from evalrunner.data import PlainObject
from evalrunner.harness import readers
from evalrunner.harness.errors import HarnessSetupError
from evalrunner.harness.readers import Place, ReadError
from evalrunner.harness.strictjson import StrictJsonError, parse_strict

ApprovalPolicy: TypeAlias = Literal["never", "on_request", "always"]
SandboxKind: TypeAlias = Literal["read_only", "workspace_write", "danger_full_access"]

APPROVAL_POLICIES: Final[tuple[ApprovalPolicy, ...]] = ("never", "on_request", "always")
SANDBOX_KINDS: Final[tuple[SandboxKind, ...]] = ("read_only", "workspace_write", "danger_full_access")
KIND_ALIASES: Final = {"full_access": "danger_full_access"}  # how the public page spells it
_APPROVAL_SPELLINGS: Final[dict[str, ApprovalPolicy]] = {
    "never": "never",
    "on_request": "on_request",
    "onrequest": "on_request",
    "on-request": "on_request",
    "always": "always",
}


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

_kind: Final = readers.object_of({"kind": readers.variant(SANDBOX_KINDS, KIND_ALIASES)}, ["kind"], allow_unknown=True)
_bare: Final = readers.object_of({"kind": readers.anything})
_workspace_write: Final = readers.object_of(
    {
        "kind": readers.anything,
        "network_access": readers.boolean,
        "writable_roots": readers.list_of(readers.text),
    }
)


def read_sandbox(value: object, at: Place) -> SandboxPolicy:
    """Read the JSON form; ReadError. Keys that its kind does not know are ignored."""
    kind: SandboxKind = _kind(value, at)["kind"]
    fields = (_workspace_write if kind == "workspace_write" else _bare)(value, at)
    return SandboxPolicy(**{**fields, "kind": kind})


def parse_approval_policy(spelling: str) -> ApprovalPolicy:
    """Read an approval policy of the command line; HarnessSetupError."""
    name = spelling.lower()
    if name not in _APPROVAL_SPELLINGS:
        expected = "|".join(APPROVAL_POLICIES)
        raise HarnessSetupError(f"invalid policy: unknown approval policy `{name}`; expected {expected}")
    return _APPROVAL_SPELLINGS[name]


def parse_sandbox_policy(spelling: str) -> SandboxPolicy:
    """Read a sandbox policy of the command line, a name or the JSON form; HarnessSetupError."""
    name = _kind_of(spelling.lower())
    if name is not None:
        return SandboxPolicy(kind=name)
    try:
        return read_sandbox(parse_strict(spelling), Place())
    except (StrictJsonError, ReadError) as error:
        raise HarnessSetupError(f"invalid policy: invalid sandbox policy `{spelling}`: {error}") from None


def _kind_of(spelling: str) -> SandboxKind | None:
    """Find the kind of a name: with underscores, with dashes, or (for the original's three) without either."""
    for kind in SANDBOX_KINDS:
        if spelling in (kind, kind.replace("_", "-"), kind.replace("_", "")):
            return kind
    alias = KIND_ALIASES.get(spelling.replace("-", "_"))
    return cast("SandboxKind | None", alias)
