"""What every page's frame shows: team, role, theme, what is running, and the comparison tray."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from reports import assets
from reports.access import role_includes
from reports.models import Membership

TRAY = "tray"


@dataclass(frozen=True, slots=True)
class NavLink:
    text: str
    href: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Tray:
    """The baseline that waits for its candidate: ``side`` as the comparison's address names it, ``text`` its name."""

    side: str
    text: str


@dataclass(frozen=True, slots=True)
class Frame:
    """All that ``base.html`` may use; ``membership`` is None when nobody is signed in.

    ``settings`` are the team's pages in the reader's menu.
    ``has_teams`` tells that the reader may switch to another team.
    """

    membership: Membership | None
    user_name: str
    theme: str
    nav: tuple[NavLink, ...]
    settings: tuple[NavLink, ...]
    may_run: bool
    has_teams: bool
    running: int
    tray: Tray | None
    stylesheet: str
    import_map: dict[str, dict[str, str]]
    path: str
    search: str


_NAV = (("Runs", "runs"), ("Compare", "compare"), ("Targets", "targets"), ("Suites", "suites"))
_SETTINGS = (
    ("Notes", "notes", "viewer"),
    ("Ignore rules", "ignore-rules", "viewer"),
    ("Policy", "policy", "viewer"),
    ("Audit trail", "audit", "admin"),
)


def frame(request: HttpRequest) -> dict[str, Any]:
    """Return the context of ``base.html``: one ``frame``, and ``membership`` and ``theme`` on their own."""
    membership: Membership | None = getattr(request, "membership", None)
    theme = str(getattr(getattr(request, "user", None), "theme", ""))
    shown = Frame(
        membership=membership,
        user_name=str(getattr(getattr(request, "user", None), "username", "")),  # not by membership: that is a query
        theme=theme,
        nav=tuple(_nav_link(request.path, text, name) for text, name in _NAV),
        settings=tuple(
            _nav_link(request.path, text, name)
            for text, name, role in _SETTINGS
            if membership is not None and role_includes(membership.role, role)
        ),
        may_run=membership is not None and role_includes(membership.role, "runner"),
        has_teams=int(getattr(membership, "team_count", 0)) > 1,
        running=int(getattr(membership, "running_runs", 0)),
        tray=_tray(request),
        stylesheet=assets.stylesheet(),
        import_map=assets.import_map(),
        path=request.get_full_path(),
        search=request.GET.get("q", "") if request.path == reverse("runs") else "",
    )
    return {"frame": shown, "membership": membership, "theme": theme}


def _nav_link(path: str, text: str, name: str) -> NavLink:
    href = reverse(name)
    is_elsewhere = name == "runs" and path.startswith((reverse("new-run"), reverse("import")))
    return NavLink(text, href, path.startswith(href) and not is_elsewhere)


def _tray(request: HttpRequest) -> Tray | None:
    session = getattr(request, "session", None)
    kept = session.get(TRAY) if session is not None and getattr(request, "membership", None) else None
    if not isinstance(kept, dict) or not kept.get("side"):
        return None
    return Tray(str(kept["side"]), str(kept.get("text", "")))
