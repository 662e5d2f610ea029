"""JSON trees as nested lists; in Python, since a template included for each of hundreds of nodes is too slow."""

from urllib.parse import quote

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from reports.domain.json_tree import JsonNode
from reports.templatetags.show import marked, plain

register = template.Library()
_OPEN_DEPTH = 3
_EMPTY = {"object": "{}", "list": "[]"}


@register.simple_tag
def json_tree(node: JsonNode, more_href: str = "") -> SafeString:
    """Show a tree of ``domain.json_tree``. ``more_href`` is an address to which the JSON pointer of a part is appended:
    where members or text are left out, it leads to them.
    """
    return mark_safe(f'<ul class="json">{"".join(_item(node, more_href, 0))}</ul>')


def _item(node: JsonNode, more_href: str, depth: int) -> list[str]:
    label = _label(node)
    if not node.is_container:
        return [f"<li{_path(node)}>{label}{_scalar(node)}{_rest_of_text(node, more_href)}</li>"]
    if not node.size:
        empty = f'<span class="json__{node.kind}" data-json-value>{_EMPTY[node.kind]}</span>'
        return [f"<li{_path(node)}>{label}{empty}</li>"]
    is_open = " open" if node.children and (depth < _OPEN_DEPTH or node.size == 1) else ""
    parts = [f"<li{_path(node)}><details{is_open}><summary>{label}{_size(node)}</summary><ul>"]
    for child in node.children:
        parts += _item(child, more_href, depth + 1)
    parts.append(_left_out(node, more_href))
    parts.append("</ul></details></li>")
    return parts


def _path(node: JsonNode) -> str:
    return f' data-json-path="{escape(plain(node.path))}" title="{escape(plain(node.path))}"' if node.path else ""


def _label(node: JsonNode) -> str:
    if not node.pointer:
        return ""
    return f'<span class="json__key">{marked(node.label) if node.label else "&quot;&quot;"}</span>: '


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
