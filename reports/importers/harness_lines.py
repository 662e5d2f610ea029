"""The lines of a results file, one at a time and within bounds; an indented summary at the end counts as one."""

from collections.abc import Iterator

from evalrunner.stream import StreamLimits

from reports.importers.containers import Content

_PIECE = 1 << 17  # bytes
_LONGEST_SUMMARY = 1 << 16  # bytes, when it is written over several lines
_LIMITS = StreamLimits()


class LineFault(ValueError):
    """A line cannot be read; ``code`` is one of those of ``evalrunner.stream``, ``line`` counts from 1."""

    def __init__(self, code: str, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.code, self.line = code, line


def read_lines(content: Content) -> Iterator[tuple[int, str]]:
    """Give the lines that are not blank with their numbers; LineFault. Only LF ends a line."""
    summary: list[str] = []  # the lines of one that is indented
    summary_line = 0
    for number, data in enumerate(_split(content), start=1):
        text = _decoded(data, number).strip(" \t\r")
        if summary_line or text == "{":
            summary_line = summary_line or number
            summary.append(text)
            if sum(map(len, summary)) > _LONGEST_SUMMARY:
                raise LineFault("not_json", "a row stands on one line, and this object on many", summary_line)
        elif text:
            yield number, text
    if summary_line:
        yield summary_line, "\n".join(summary)


def _split(content: Content) -> Iterator[bytes]:
    """Part the bytes at LF; LineFault for a line that is longer than a case may be."""
    buffer, number = bytearray(), 1
    searched = 0
    while data := content.read(_PIECE):
        buffer += data
        begin = 0
        while (end := buffer.find(b"\n", max(begin, searched))) >= 0:
            yield bytes(buffer[begin:end])
            begin, searched = end + 1, 0
            number += 1
        del buffer[:begin]
        searched = len(buffer)
        if len(buffer) > _LIMITS.case_characters:
            raise LineFault("item_too_large", f"longer than {_LIMITS.case_characters:,} bytes", number)
    if buffer:
        yield bytes(buffer)


def _decoded(data: bytes, number: int) -> str:
    values = data.count(b",") + data.count(b"[") + data.count(b"{")
    if values > _LIMITS.item_values:
        raise LineFault("too_many_values", f"more than {_LIMITS.item_values:,} values in one row", number)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LineFault("not_utf8", f"not UTF-8 text: byte {error.start} of the line", number) from None
