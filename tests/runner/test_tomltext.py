"""TOML from outside is read, or refused with a sentence, whatever it holds."""

import pytest
from evalrunner.tomltext import TomlTextError, parse_toml


def test_toml_is_read() -> None:
    assert parse_toml("a = 1\n[b]\nc = ['d']") == {"a": 1, "b": {"c": ["d"]}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a =", "Invalid value"),
        ("a = " + "9" * 5_000, "a number has too many digits"),
        ("a = -" + "9" * 5_000, "a number has too many digits"),
        ("a = " + "[" * 50_000, "nested too deeply"),
        ("a = " + "{b = " * 50_000, "nested too deeply"),
        ("a = 2026-02-30", "Invalid date"),
    ],
    ids=["cut off", "long number", "long negative number", "deep list", "deep table", "no date"],
)
def test_what_cannot_be_read_is_told(text: str, words: str) -> None:
    with pytest.raises(TomlTextError, match=words):
        parse_toml(text)
