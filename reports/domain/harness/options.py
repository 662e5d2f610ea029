"""What a run of scenario files is asked for beyond the options of every run, and what a target allows of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from evalrunner.harness.policies import DEFAULT_APPROVAL
from evalrunner.harness.scenarios import Scenario

from reports.text import restored, storable

READING_TOOLS = ("fs.read", "fs.list", "search.ripgrep")
CHANGING_TOOLS = ("fs.write", "patch.apply", "shell.exec")
USUAL_APPROVALS = (DEFAULT_APPROVAL, "never", "always")
USUAL_SANDBOXES = ("workspace_write", "read_only")
_NAMES_SHOWN = 5


@dataclass(frozen=True)
class HarnessOptions:
    """ "" leaves the choice: the configuration's default profile, the first policy that the target allows."""

    profile: str = ""
    approval_policy: str = ""
    sandbox_policy: str = ""
    exclude_tags: tuple[str, ...] = ()
    fail_fast: bool = False

    def to_data(self) -> dict[str, Any]:
        """Return a JSON value that ``from_data`` reads and any database can hold."""
        return {
            "profile": storable(self.profile),
            "approval_policy": self.approval_policy,
            "sandbox_policy": self.sandbox_policy,
            "exclude_tags": [storable(tag) for tag in self.exclude_tags],
            "fail_fast": self.fail_fast,
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            profile=restored(data.get("profile", "")),
            approval_policy=data.get("approval_policy", ""),
            sandbox_policy=data.get("sandbox_policy", ""),
            exclude_tags=tuple(map(restored, data.get("exclude_tags", ()))),
            fail_fast=bool(data.get("fail_fast")),
        )


USUAL = HarnessOptions()


@dataclass(frozen=True)
class Allowed:
    """What a target allows: names of profiles, policies and kinds of sandbox, the default of policies first."""

    profiles: tuple[str, ...]
    approval_policies: tuple[str, ...] = USUAL_APPROVALS
    sandbox_policies: tuple[str, ...] = USUAL_SANDBOXES


def faults_of_options(options: HarnessOptions, allowed: Allowed) -> list[tuple[str, str]]:
    """Return the options that a target does not allow, each with a sentence."""
    asked = (
        ("profile", options.profile, allowed.profiles),
        ("approval_policy", options.approval_policy, allowed.approval_policies),
        ("sandbox_policy", options.sandbox_policy, allowed.sandbox_policies),
    )
    return [
        (field, f"This target does not allow {value!r}; choose one of {', '.join(names)}.")
        for field, value, names in asked
        if value and value not in names
    ]


def faults_of_rows(scenarios: Iterable[Scenario], allowed: Allowed) -> list[str]:
    """Return what rows ask for themselves and the target does not allow: a row's own policy never widens anything."""
    refused: dict[str, list[str]] = {}
    for scenario in scenarios:
        for words in _refused_of(scenario, allowed):
            refused.setdefault(words, []).append(scenario.id)
    return [f"{_rows(ids)} {words}, which this target does not allow." for words, ids in refused.items()]


def _refused_of(scenario: Scenario, allowed: Allowed) -> Iterable[str]:
    if scenario.profile is not None and scenario.profile not in allowed.profiles:
        yield f"the profile {scenario.profile!r}"
    if scenario.approval_policy is not None and scenario.approval_policy not in allowed.approval_policies:
        yield f"the approval policy {scenario.approval_policy}"
    sandbox = scenario.sandbox_policy
    if sandbox is not None and sandbox.kind not in allowed.sandbox_policies:
        yield f"the sandbox {sandbox.kind}"
    if sandbox is not None and sandbox.writable_roots:
        yield "writable folders outside of the workspace"


def _rows(ids: list[str]) -> str:
    shown = ", ".join(repr(id) for id in ids[:_NAMES_SHOWN]) + (", …" if len(ids) > _NAMES_SHOWN else "")
    return f"The row{'s' if len(ids) > 1 else ''} {shown} ask{'' if len(ids) > 1 else 's'} for"


def policies_of(options: HarnessOptions, allowed: Allowed) -> tuple[str, str]:
    """Return the approval policy and the kind of sandbox that hold where a row says nothing."""
    return (
        options.approval_policy or allowed.approval_policies[0],
        options.sandbox_policy or allowed.sandbox_policies[0],
    )
