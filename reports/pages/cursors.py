"""Places in lists that are ordered by a moment and a key, as addresses carry them."""

from datetime import datetime


def cursor_text(at: datetime, pk: int) -> str:
    return f"{at.isoformat()}~{pk}"


def parse_cursor(text: str) -> tuple[datetime, int] | None:
    """Read a cursor of an address; None for a text that is none."""
    at, _, pk = text.partition("~")
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    is_cursor = moment.tzinfo is not None and pk.isascii() and pk.isdigit() and len(pk) < 19
    return (moment, int(pk)) if is_cursor else None
