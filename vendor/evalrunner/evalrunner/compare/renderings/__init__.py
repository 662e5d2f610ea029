"""The comparison document as text for terminals, JSON, Markdown and HTML. Each function takes the document alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from evalrunner.compare.renderings.html import render_html
from evalrunner.compare.renderings.markdown import MOST_CHARACTERS, render_markdown
from evalrunner.compare.renderings.text import render_text

__all__ = ["FORMATS", "MOST_CHARACTERS", "render_html", "render_json", "render_markdown", "render_text"]


def render_json(document: Mapping[str, Any]) -> str:
    """Return the document as JSON text; escapes stand only where a text holds an unpaired surrogate."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(document, allow_nan=False, indent=1)
    return f"{text}\n"


FORMATS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "text": render_text,
    "json": render_json,
    "markdown": render_markdown,
    "html": render_html,
}
