"""Patterns of Rust's regex crate."""

from __future__ import annotations

import time

import pytest
from evalrunner.harness import HarnessError
from evalrunner.harness.patterns import is_found


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("b", "abc", True),
        ("b$", "ab\n", False),
        (r"b\z", "ab", True),
        ("(?m)b$", "ab\nc", True),
        ("^b", "a\nb", False),
        ("(?m)^b", "a\nb", True),
        ("a.b", "a\nb", False),
        ("(?s)a.b", "a\nb", True),
        ("(?i)GRÖSSE", "größe grösse", True),
        ("(?x) a b  # c", "ab", True),
        ("(?P<n>a)(?<m>b)", "ab", True),
        (r"^\w+$", "Grüße", True),
        (r"^\d+$", "٣", True),
        (r"\bwelt\b", "die welt, groß", True),
        (r"\bro", "große", False),
        (r"^\p{Greek}+$", "αβγ", True),
        ("^[[:alpha:]]+$", "abc", True),
        ("^[a-z&&[^b]]+$", "abc", False),
        ("", "", True),
        ("\\x{1F600}", "😀", True),
    ],
)
def test_a_pattern_is_searched_for(pattern: str, text: str, found: bool) -> None:
    assert is_found(pattern, text) is found


@pytest.mark.parametrize(
    "pattern", ["[open", "(open", "a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b", r"(a)\1", "x{2,1}", "*"]
)
def test_an_invalid_pattern_is_named(pattern: str) -> None:
    with pytest.raises(HarnessError) as caught:
        is_found(pattern, "text")

    assert str(caught.value).startswith(f"invalid regex `{pattern}`: ")
    assert "\n" not in str(caught.value)
    assert not str(caught.value).endswith(": ")


def test_a_pattern_that_compiles_to_too_much_is_invalid() -> None:
    with pytest.raises(HarnessError, match="size limit"):
        is_found("(((a{100}){100}){100}){100}", "a")


def test_no_pattern_takes_long() -> None:
    began = time.monotonic()

    assert not is_found("(a*)*(a|aa)*b", "a" * 100_000)

    assert time.monotonic() - began < 10
