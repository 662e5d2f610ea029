#!/usr/bin/env python3
"""Django's command line for Evalsite; where Django is missing it first makes the environment that has it."""

import os
import sys


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is what an older Python gets to read
        sys.exit("evalsite: needs Python 3.11 or newer, and this is %d.%d." % sys.version_info[:2])  # noqa: UP031
    from evalsite.bootstrap import ensure_environment

    ensure_environment(sys.argv)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as problem:  # a variable of the README's table; its sentence says what to do
        sys.exit(f"evalsite: {problem}")


if __name__ == "__main__":
    main()
