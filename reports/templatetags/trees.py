"""JSON trees as nested lists; in Python, since a template included for each of hundreds of nodes is too slow."""

from typing import Protocol
from urllib.parse import quote

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from reports.domain.json_tree import JsonNode
from reports.templatetags.show import marked, plain

register = template.Library()
_OPEN_DEPTH = 3
_EMPTY = {"object": "{}", "list": "[]"}


class Links(Protocol):
    """Makes the anchor of a path and the address that opens a page at it."""

    def anchor(self, path: str) -> str: ...
    def href(self, path: str) -> str: ...


@register.simple_tag
def json_tree(node: JsonNode, more_href: str = "", links: Links | None = None) -> SafeString:
    """Show a tree of ``domain.json_tree``. ``more_href`` is an address to which the JSON pointer of a part is appended:
    where members or text are left out, it leads to them. With ``links`` each member has a link to its own place.
    """
    return mark_safe(f'<ul class="json">{"".join(_item(node, more_href, links, 0))}</ul>')


def _item(node: JsonNode, more_href: str, links: Links | None, depth: int) -> list[str]:
    item = f"<li{_place(node, links)}>"
    if not node.is_container:
        return [f"{item}{_label(node, links)}{_scalar(node)}{_rest_of_text(node, more_href)}</li>"]
    if not node.size:
        empty = f'<span class="json__{node.kind}" data-json-value>{_EMPTY[node.kind]}</span>'
        return [f"{item}{_label(node, links)}{empty}</li>"]
    label = _label(node, None)  # its line folds; the link stands beside it
    is_open = node.children and (depth < _OPEN_DEPTH or node.size == 1 or node.is_on_way)
    parts = [
        f"{item}{_link(node, links)}<details{' open' if is_open else ''}><summary>{label}{_size(node)}</summary><ul>"
    ]
    for child in node.children:
        parts += _item(child, more_href, links, depth + 1)
    parts.append(_left_out(node, more_href))
    parts.append("</ul></details></li>")
    return parts


def _place(node: JsonNode, links: Links | None) -> str:
    shown = escape(plain(node.path))
    path = f' data-json-path="{shown}" title="{shown}"' if node.path else ""
    if not (node.is_sought and links):
        return path
    return f'{path} id="{escape(links.anchor(node.path))}" class="is-linked" tabindex="-1"'


def _label(node: JsonNode, links: Links | None) -> str:
    if not node.pointer:
        return ""
    name = marked(node.label) if node.label else "&quot;&quot;"
    if links is None:
        return f'<span class="json__key">{name}</span>: '
    return f'<a class="json__key" data-link href="{escape(links.href(node.path))}">{name}</a>: '


def _link(node: JsonNode, links: Links | None) -> str:
    if links is None or not node.path:
        return ""
    where = escape(plain(node.path))
    return f'<a class="json__link" data-link href="{escape(links.href(node.path))}" aria-label="Link to {where}">#</a>'


def _size(node: JsonNode) -> str:
    members = {"object": "member", "list": "item"}[node.kind]
    brackets = {"object": "{…}", "list": "[…]"}[node.kind]
    plural = "" if node.size == 1 else "s"
    return f'<span class="json__size">{brackets} {node.size:,} {members}{plural}</span>'


def _scalar(node: JsonNode) -> str:
    if node.kind == "text":
        text = marked(node.text, keep="\n\t") + ("…" if node.is_cut else "")
        return f'<span class="json__text" dir="auto" data-json-value>“{text}”</span>'
    return f'<span class="json__{node.kind}" data-json-value>{escape(node.text)}</span>'


def _rest_of_text(node: JsonNode, more_href: str) -> str:
    if not node.is_cut:
        return ""
    words = f"all {node.size:,} characters"
    return f" {_more(node, more_href, words, as_text=True)}"


def _left_out(node: JsonNode, more_href: str) -> str:
    if not node.hidden:
        return ""
    words = f"{node.hidden:,} more" if node.children else f"show {node.hidden:,}"
    return f'<li class="json__more">{_more(node, more_href, words)}</li>'


def _more(node: JsonNode, more_href: str, words: str, *, as_text: bool = False) -> str:
    if not more_href:
        return f'<span class="soft">{words}</span>'
    pointer = quote(node.pointer, safe="/", errors="replace")
    return f'<a href="{escape(more_href)}{pointer}{"&amp;as=text" if as_text else ""}">{words}</a>'
