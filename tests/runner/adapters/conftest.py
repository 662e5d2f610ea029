"""A program for each test of the command adapter."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from evalrunner.adapters.command import CommandAdapter

from tests.runner.adapters.programs import PREAMBLE, WriteProgram


@pytest.fixture
def program(tmp_path: Path) -> WriteProgram:
    """Write a Python program and give the adapter for it; the program runs in an empty folder of its own."""

    def write(source: str, *arguments: str, **options: Any) -> CommandAdapter:
        path = tmp_path / "agent.py"
        path.write_text(PREAMBLE + textwrap.dedent(source))
        return CommandAdapter([sys.executable, "-S", str(path), *arguments], folder=tmp_path, **options)

    return write
