"""Text from outside, made fit for a database column without losing what it was.

PostgreSQL holds neither NUL nor unpaired surrogates, and neither can be sent as UTF-8. Columns therefore hold an
escaped form: U+FFFE (a noncharacter) followed by four hex digits stands for the UTF-16 unit that cannot be stored, and
for U+FFFE itself. The escaped form is what pages, filters and searches work with; payloads keep the value as it was.
"""

import re

ESCAPE = "\ufffe"
_UNFIT = re.compile("[\x00\ud800-\udfff\ufffe]")
_RAW = re.compile("[\x00\ud800-\udfff]")
_ESCAPED = re.compile("\ufffe([0-9a-f]{4})")


def storable(text: str) -> str:
    """Return the escaped form of a text: equal texts give equal forms, different ones different forms."""
    return _UNFIT.sub(_escape, text)


def storable_once(text: str) -> str:
    """Return the escaped form of a text from an address, which may hold it already: U+FFFE is left as it is."""
    return _RAW.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return f"{ESCAPE}{ord(found.group()):04x}"


def restored(stored: str) -> str:
    """Return the text that ``storable`` was given."""
    if ESCAPE not in stored:
        return stored
    return _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), stored)
