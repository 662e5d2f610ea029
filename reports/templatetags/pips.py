"""Repetitions as one small picture: in long tables a mark must not cost four elements."""

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from reports.pages.parts import Pips

register = template.Library()
_SIDE = 16


@register.simple_tag
def pip_links(pips: Pips) -> SafeString:
    """Show repetitions in order as one picture, each mark a link to its case, with their count beside it."""
    marks = "".join(
        f'<a class="tone--{pip.sign.tone}" href="{escape(pip.href)}"><title>{escape(pip.text)}</title>'
        f'<use href="#icon-{pip.sign.key}" x="{place * _SIDE}" width="{_SIDE}" height="{_SIDE}"/></a>'
        for place, pip in enumerate(pips.marks)
    )
    width = len(pips.marks) * _SIDE
    strip = f'<svg class="pip-strip icon" viewBox="0 0 {width} {_SIDE}" width="{width}" height="{_SIDE}">{marks}</svg>'
    return mark_safe(  # the words are ours
        f'<span class="pips">{strip if marks else ""}<span class="pips__count">{escape(pips.text)}</span></span>'
    )


@register.simple_tag
def pip_strip(pips: Pips) -> SafeString:
    """Show repetitions in order as one picture with their count beside it; the marks are read out in words."""
    marks = "".join(
        f'<use class="tone--{pip.sign.tone}" href="#icon-{pip.sign.key}" x="{place * _SIDE}" width="{_SIDE}" '
        f'height="{_SIDE}"/>'
        for place, pip in enumerate(pips.marks)
    )
    words = escape(", ".join(pip.text for pip in pips.marks))
    width = len(pips.marks) * _SIDE
    return mark_safe(  # the words are ours
        f'<span class="pips"><svg class="pip-strip icon" viewBox="0 0 {width} {_SIDE}" width="{width}" '
        f'height="{_SIDE}" role="img" aria-label="{words}">{marks}</svg>'
        f'<span class="pips__count">{escape(pips.text)}</span></span>'
    )
