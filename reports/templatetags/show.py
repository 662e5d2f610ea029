"""Filters that turn values into what a reader sees."""

from django import template

register = template.Library()
