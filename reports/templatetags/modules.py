"""Tags of the frame: the import map that gives modules their served names."""

import json
from collections.abc import Mapping

from django import template
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


@register.filter
def import_map_tag(entries: Mapping[str, Mapping[str, str]], request: HttpRequest) -> SafeString:
    """Return the import map's element. Browsers read one only inline, so it carries the request's CSP nonce."""
    text = json.dumps(entries, separators=(",", ":")).translate(_ESCAPES)
    nonce = str(getattr(request, "csp_nonce", ""))
    return format_html('<script type="importmap" nonce="{}">{}</script>', nonce, mark_safe(text))
