"""What a tool call does, judged by its arguments alone (SPEC 15).

A shell command is judged by its first two words and by control characters. That is a filter for accidents, not a
security boundary: interpreters and download programs count as reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

READ: Final = "read"
WRITE: Final = "write"
DESTRUCTIVE: Final = "destructive"
MCP: Final = "mcp"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DESTRUCTIVE_SUBCOMMANDS: Final = {"git": _words("clean"), "docker": _words("system volume")}
_WRITE_SUBCOMMANDS: Final = {
    "git": _words("branch checkout cherry-pick commit merge push rebase reset stash tag"),
    "bun": _words("add install pm publish remove update"),
    "npm": _words("install publish uninstall update"),
    "pip": _words("install uninstall"),
    "pip3": _words("install uninstall"),
    "cargo": _words("publish"),
    "docker": _words("build compose kill push rm rmi run stop"),
    "kubectl": _words("apply create delete edit patch"),
    "helm": _words("delete install rollback upgrade"),
}
_READ_PROGRAMS: Final = _words(
    "arch bun cargo cat cmake curl date df diff du echo egrep env false file find free gh git go grep head hostname id"
    " java ls make node npm npx pip pip3 pnpm printenv ps pwd python python3 rg rustc sort stat tail test true uname"
    " uniq uptime wc wget which whoami yarn"
)
_WRITE_PROGRAMS: Final = _words("chmod chown cp docker helm kubectl ln mkdir mv tee touch")
_DESTRUCTIVE_PROGRAMS: Final = _words("dd format mkfs rm su sudo")

# One piece of a command: quoted text, an escaped character, control syntax, blanks, or any other character. A quote
# that is never closed reaches to the end.
_pieces: Final = re.compile(
    r"""(?P<single>'[^']*(?:'|\Z))"""
    r"""|(?P<double>"(?:[^"\\]|\\.)*(?:"|\\?\Z))"""
    r"""|(?P<escaped>\\(?:.|\Z))"""
    r"""|(?P<control>[><|;&`\n]|\$\()"""
    r"""|(?P<blank>[ \t\r]+)"""
    r"""|(?P<plain>.)""",
    re.DOTALL,
)
_hunk: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def classify_tool(tool_id: str, arguments: Mapping[str, Any]) -> str:
    """Give the effect of a call: ``read``, ``write``, ``destructive`` or ``mcp``; an unknown tool counts as read."""
    if tool_id.startswith("mcp."):
        return MCP
    if tool_id == "shell.exec":
        return _classify_command(_text(arguments, "command"))
    if tool_id == "patch.apply":
        return DESTRUCTIVE if _adds_or_deletes(_text(arguments, "patch")) else WRITE
    return WRITE if tool_id == "fs.write" else READ


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    return value if isinstance(value, str) else ""


# ------------------------------------------------------------------------------------------------------ shell commands


def _classify_command(command: str) -> str:
    words, has_control = _split(command)
    program, subcommand = (*words, "", "")[:2]
    effect = _by_words(program, subcommand)
    return WRITE if effect == READ and has_control else effect


def _by_words(program: str, subcommand: str) -> str:
    if subcommand in _DESTRUCTIVE_SUBCOMMANDS.get(program, ()):
        return DESTRUCTIVE
    if subcommand in _WRITE_SUBCOMMANDS.get(program, ()):
        return WRITE
    if program in _READ_PROGRAMS:
        return READ
    if program in _WRITE_PROGRAMS:
        return WRITE
    return DESTRUCTIVE if program in _DESTRUCTIVE_PROGRAMS else WRITE


def _split(command: str) -> tuple[list[str], bool]:
    """Split a command into words with their quotes taken off, and tell whether it has control syntax.

    Control characters belong to the word they stand in (``ls;`` is one word); a newline also ends a word.
    """
    words: list[str] = []
    word: str | None = None
    has_control = False
    for kind, piece in _pieces_of(command):
        has_control = has_control or kind == "control"
        if kind == "blank" or piece == "\n":
            if word is not None:
                words.append(word)
            word = None
        else:
            word = (word or "") + _unquoted(kind, piece)
    return ([*words, word] if word is not None else words), has_control


def _pieces_of(command: str) -> Iterator[tuple[str, str]]:
    for match in _pieces.finditer(command):
        yield str(match.lastgroup), match[0]


def _unquoted(kind: str, piece: str) -> str:
    if kind == "single":
        return piece[1:].removesuffix("'")
    if kind == "double":
        return re.sub(r'\\(["\\$`\n])', r"\1", piece[1:].removesuffix('"'))
    if kind == "escaped":
        return piece[1:].replace("\n", "")
    return piece


# ------------------------------------------------------------------------------------------------------------- patches


def _adds_or_deletes(patch: str) -> bool:
    """Tell whether a unified diff adds or deletes a file: one of its file headers names ``/dev/null``."""
    return any(header.split("\t")[0].rstrip() == "/dev/null" for header in _file_headers(patch.split("\n")))


def _file_headers(lines: Sequence[str]) -> Iterator[str]:
    """Give what follows ``--- `` and ``+++ `` outside of hunks; inside, such lines are lines of a file."""
    old = new = 0
    for line in lines:
        if old > 0 or new > 0:
            old -= line[:1] in ("-", " ", "")
            new -= line[:1] in ("+", " ", "")
        elif (hunk := _hunk.match(line)) is not None:
            old, new = (1 if count is None else int(count) for count in hunk.groups())
        elif line.startswith(("--- ", "+++ ")):
            yield line[4:]
