"""What every page's frame shows: team, role, theme. Counts shown in the frame are read once per page here."""

from typing import Any

from django.http import HttpRequest

from reports.models import Membership


def frame(request: HttpRequest) -> dict[str, Any]:
    """Return the context of ``base.html``: ``membership`` (None when signed out) and ``theme`` ("", light or dark)."""
    membership: Membership | None = getattr(request, "membership", None)
    return {"membership": membership, "theme": getattr(request.user, "theme", "") if hasattr(request, "user") else ""}
