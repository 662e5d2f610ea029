"""Reading one report in bounded memory."""

import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from evalrunner import stream
from evalrunner.stream import Member, ReportTextError, StreamLimits, read_members
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import report

SMALL = StreamLimits(case_characters=2_000_000, member_characters=200_000, item_values=1_000)


class Dribble(io.BytesIO):
    """A source that gives a few bytes at a time, whatever is asked for."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self.size = size

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self.size)


def members(text: str | bytes, limits: StreamLimits | None = None) -> list[Member]:
    return list(read_members(io.BytesIO(text.encode() if isinstance(text, str) else text), limits))


def refusal(text: str | bytes, limits: StreamLimits | None = None) -> ReportTextError:
    with pytest.raises(ReportTextError) as caught:
        members(text, limits)
    return caught.value


def gathered(found: list[Member]) -> dict[str, Any]:
    """Put members and cases together again."""
    whole: dict[str, Any] = {}
    for name, position, value in found:
        if position is None:
            whole[name] = value
        else:
            assert len(whole.setdefault(name, [])) == position
            whole[name].append(value)
    return whole


def test_a_report_comes_back_as_the_value_that_was_written() -> None:
    value = report("PFESN")

    assert gathered(members(json.dumps(value))) == value


def test_members_may_come_in_any_order() -> None:
    value = report("PF")
    turned = dict(reversed(value.items()))

    assert [member.name for member in members(json.dumps(turned))] == [
        "summary",
        "assertions",
        "cases",
        "cases",
        *list(reversed(list(value)))[3:],
    ]


def test_cases_that_are_no_list_come_as_one_member() -> None:
    assert members('{"cases":{"a":1}}') == [Member("cases", None, {"a": 1})]
    assert members('{"cases":[]}') == [Member("cases", None, [])]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(
    st.dictionaries(st.text(max_size=6), json_values, max_size=5),
    st.lists(json_values, max_size=5),
    st.integers(1, 40),
    st.sampled_from([None, 2]),
    st.booleans(),
)
def test_any_object_comes_back_however_the_bytes_arrive(
    head: dict[str, Any], cases: list[Any], size: int, indent: int | None, is_ascii: bool
) -> None:
    value = head | {"cases": cases}
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    try:
        text.decode()
    except UnicodeDecodeError:
        return

    found = list(read_members(Dribble(text, size)))

    assert gathered(found) == value


@given(st.integers(0, 10_000))
def test_a_report_cut_anywhere_is_refused(place: int) -> None:
    text = json.dumps(report("PF"), ensure_ascii=False).encode()
    cut = text[: place % len(text)]

    error = refusal(cut)

    assert error.code == ("empty" if not cut else "not_json")


@pytest.mark.parametrize(
    ("text", "code", "path", "says"),
    [
        ("", "empty", "", "empty"),
        (" \n\t", "empty", "", "empty"),
        ("[1]", "not_object", "", "begins with something else"),
        ('"text"', "not_object", "", "begins with something else"),
        ("hello", "not_json", "", "begins with 'h'"),
        ('\ufeff{"a":1}', "not_json", "", "byte order mark"),
        ('{"a":1}{', "not_json", "", "goes on"),
        ('{"a":1},', "not_json", "", "goes on"),
        ('{"a":1,"a":2}', "member_twice", "a", "twice"),
        ('{"a":1,}', "not_json", "", "name of a member"),
        ('{"a" 1}', "not_json", "", "':'"),
        ('{"a":1 "b":2}', "not_json", "", "','"),
        ('{"cases":[{"a":1} {"a":2}]}', "not_json", "cases.0", "','"),
        ('{"cases":[{},{"a":tru}' + " " * 40 + "]}", "not_json", "cases.1", "value"),
        ('{"cases":[{"a":"\n"}' + " " * 40 + "]}", "not_json", "cases.0", "control character"),
        ('{"cases":[1,{"b":[0,NaN]}]}', "not_json", "cases.1.b.1", "NaN is not JSON"),
        ('{"cases":[{"turns":[{"durationMs":-Infinity}]}]}', "not_json", "cases.0.turns.0.durationMs", "-Infinity"),
        ('{"a":' + "[" * 100_000, "too_deep", "a", "nested"),
    ],
)
def test_what_is_no_report_text_is_refused_with_its_place(text: str, code: str, path: str, says: str) -> None:
    error = refusal(text)

    assert (error.code, error.path) == (code, path)
    assert says in str(error)


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_a_text_that_ends_inside_a_character_is_cut_off_not_broken(size: int) -> None:
    text = '{"a":"Größe","cases":[{"b":"ö'.encode()[:-1]

    with pytest.raises(ReportTextError) as caught:
        list(read_members(Dribble(text, size)))

    assert (caught.value.code, caught.value.path) == ("not_json", "cases.0")
    assert "cut off" in str(caught.value)


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_bytes_that_are_not_utf8_are_named_by_their_position(size: int) -> None:
    text = '{"a":"Größe","cases":[{"b":"'.encode() + b"\xff" + b'"}]}'

    with pytest.raises(ReportTextError) as caught:
        list(read_members(Dribble(text, size)))

    assert (caught.value.code, caught.value.byte) == ("not_utf8", text.index(b"\xff"))


def test_faults_are_placed_in_bytes_not_characters() -> None:
    error = refusal('{"ä":"ö",' + "x" * 40)

    assert error.byte == len('{"ä":"ö",'.encode())


def test_an_item_beyond_its_limits_is_refused_before_it_is_parsed() -> None:
    assert refusal('{"cases":["' + "x" * 3_000_000 + '"]}', SMALL).code == "item_too_large"
    assert refusal('{"cases":[],"a":"' + "x" * 300_000 + '"}', SMALL).code == "item_too_large"
    assert gathered(members('{"cases":["' + "x" * 1_900_000 + '"]}', SMALL))["cases"][0].startswith("x")
    assert refusal('{"cases":[[' + "[]," * 2_000 + "1]]}", SMALL).code == "too_many_values"
    assert gathered(members('{"cases":["' + ",[{" * 2_000 + '"]}', SMALL))["cases"][0].startswith(",[{")


def test_a_long_run_of_blanks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_MAX_BLANKS", 1_000)

    assert refusal("{" + " " * 500_000 + "}").code == "item_too_large"


def test_numbers_keep_what_json_loses() -> None:
    whole = gathered(members('{"cases":[{"a":-0,"b":"x-0 ","c":[-0]}],"d":' + "9" * 5_000 + ',"e":1e999}'))

    assert str(whole["cases"][0]) == "{'a': -0.0, 'b': 'x-0 ', 'c': [-0.0]}"
    assert whole["d"] == whole["e"] == float("inf")


def test_memory_does_not_grow_with_the_number_of_cases() -> None:
    case = json.dumps({"text": "x" * 5_000}).encode()

    def peak(count: int) -> int:
        class Source(io.RawIOBase):
            def __init__(self) -> None:
                self.parts: Iterator[bytes] = iter([b'{"cases":[', *([case + b","] * count), b"1]}"])

            def read(self, size: int = -1, /) -> bytes:
                return next(self.parts, b"")

        tracemalloc.start()
        for _ in read_members(Source()):  # type: ignore[arg-type]
            pass
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    assert peak(4_000) < peak(400) + 500_000
