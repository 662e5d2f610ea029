"""What the vectors leave open of effects and policies."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from evalrunner.harness import classify_tool, decide_permission

HUNK_THAT_LOOKS_LIKE_HEADERS = """--- a/notes.md
+++ b/notes.md
@@ -1,3 +1,3 @@
 one
--- /dev/null
+++ /dev/null
 three
"""


def command(text: str) -> str:
    return classify_tool("shell.exec", {"command": text})


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("git", "read"),
        ("git -C x clean", "read"),
        ("git 'clean'", "destructive"),
        ("gi\\t clean", "destructive"),
        ('"git" "cl"ean -f', "destructive"),
        ("ls>out", "write"),
        ("ls a\\;b", "read"),
        ("ls 'a;b' \"c|d\"", "read"),
        ('ls "a\\"b;" ; x', "write"),
        ("ls a &", "write"),
        ("ls < in", "write"),
        ("echo $HOME", "read"),
        ("echo $(date", "write"),
        ("ls \\\n-l", "read"),
        ("\n\nls", "write"),
        ("'' ls", "write"),
        ("Docker ps", "write"),
        ("su", "destructive"),
        ("mkfs.ext4 /dev/x", "write"),
        ("python -c 'import os'", "read"),
        ("'unclosed ls", "write"),
    ],
)
def test_a_command_is_judged_by_its_first_words_and_control_characters(text: str, effect: str) -> None:
    assert command(text) == effect


@pytest.mark.parametrize("arguments", [{}, {"command": None}, {"command": ["rm"]}])
def test_a_missing_argument_counts_as_an_empty_one(arguments: dict[str, Any]) -> None:
    assert classify_tool("shell.exec", arguments) == "write"
    assert classify_tool("patch.apply", arguments) == "write"


def test_lines_of_a_file_are_no_headers_of_a_patch() -> None:
    assert classify_tool("patch.apply", {"patch": HUNK_THAT_LOOKS_LIKE_HEADERS}) == "write"
    added = HUNK_THAT_LOOKS_LIKE_HEADERS + "--- /dev/null\t1970-01-01\n+++ b/new\n@@ -0,0 +1 @@\n+x\n"
    assert classify_tool("patch.apply", {"patch": added}) == "destructive"


def decide(approval: Any, sandbox: dict[str, Any], **effect: Any) -> tuple[str | None, str | None]:
    decision = decide_permission(approval, sandbox, effect, workspace="/ws", trusted_servers={"t"})
    return decision["decision"], decision["reason"]


@pytest.mark.parametrize(
    ("path", "is_inside"),
    [
        ("/ws", True),
        ("/ws/./a//b", True),
        ("/ws/a/../b", True),
        ("/ws/../etc/passwd", False),
        ("/wsx", False),
        ("/extra/x", True),
        ("/ws/sub/x", True),
        ("/", False),
    ],
)
def test_paths_are_compared_component_by_component(path: str, is_inside: bool) -> None:
    sandbox = {"kind": "workspace_write", "writable_roots": ["/extra/", "sub"]}

    expected = ("allowed", None) if is_inside else ("ask", "sandbox_rejected")
    assert decide("on_request", sandbox, kind="write", paths=[path]) == expected


def test_the_page_spelling_of_the_third_sandbox_is_understood() -> None:
    assert decide("on_request", {"kind": "full_access"}, kind="destructive") == ("ask", "destructive_effect")


@pytest.mark.parametrize(
    ("approval", "sandbox", "decision"),
    [
        ("never", "read_only", ("denied", "sandbox")),
        ("never", "workspace_write", ("denied", "never_asks")),
        ("never", "danger_full_access", ("allowed", None)),
        ("on_request", "read_only", ("denied", "sandbox")),
        ("on_request", "workspace_write", ("ask", "destructive_effect")),
        ("on_request", "danger_full_access", ("ask", "destructive_effect")),
        ("always", "read_only", ("denied", "sandbox")),
        ("always", "workspace_write", ("ask", "destructive_effect")),
        ("always", "danger_full_access", ("ask", "policy_always")),
    ],
)
def test_what_destroys_is_asked_about_even_where_everything_may_run(
    approval: str, sandbox: str, decision: tuple[str, str | None]
) -> None:
    assert decide(approval, {"kind": sandbox}, kind="destructive") == decision
    assert decide(approval, {"kind": sandbox}, kind="shell", destructive=True) == decision


KINDS = [{"kind": kind} for kind in ("read", "write", "shell", "destructive", "network", "mcp")]
EFFECTS = [*KINDS, {"kind": "shell", "destructive": True}, {"kind": "mcp", "server": "t"}]
SANDBOXES = [{"kind": kind} for kind in ("read_only", "workspace_write", "danger_full_access")]


@pytest.mark.parametrize(("sandbox", "effect"), list(itertools.product(SANDBOXES, EFFECTS)))
def test_a_stricter_policy_never_lets_more_through(sandbox: dict[str, Any], effect: dict[str, Any]) -> None:
    rank = {"allowed": 0, "ask": 1, "denied": 2}
    never, on_request, always = (decide(policy, sandbox, **effect)[0] for policy in ("never", "on_request", "always"))

    assert never != "ask"
    assert rank[str(on_request)] <= rank[str(always)]
    assert {on_request, always} != {"denied", "allowed"}
    assert (decide("always", SANDBOXES[0], **effect)[0] != "allowed") or effect in (KINDS[0], EFFECTS[-1])
