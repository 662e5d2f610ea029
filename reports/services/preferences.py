"""What a reader chose for themselves."""

from reports.models import User

THEMES = ("", "light", "dark")


def keep_theme(*, user: User, theme: str) -> None:
    """Store a reader's theme: "" follows the system. Raises ValueError for any other word."""
    if theme not in THEMES:
        raise ValueError(f"unknown theme {theme!r}")
    User.objects.filter(pk=user.pk).update(theme=theme)
