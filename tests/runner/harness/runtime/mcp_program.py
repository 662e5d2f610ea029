"""A program for tests: an MCP server over standard input and output, made with the ``mcp`` package.

It writes its process id to the file named by its argument, and leaves a mark there for each call of ``mark``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("tests")
notes = Path(sys.argv[1])


@server.tool()
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@server.tool()
def mark(text: str) -> str:
    """Leave a mark."""
    with notes.open("a") as file:
        file.write(f"{text}\n")
    return "marked"


@server.tool()
def environment() -> str:
    """Name the variables that are set."""
    return " ".join(f"{name}={value}" for name, value in sorted(os.environ.items()))


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("it did not work")


@server.tool()
def large() -> str:
    """Say too much."""
    return "x" * 1_000_000


@server.tool()
def die() -> str:
    """End at once."""
    os._exit(3)


if __name__ == "__main__":
    notes.write_text(f"{os.getpid()}\n")
    server.run("stdio")
