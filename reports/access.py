"""Who may do what: the team of a request and the role of its reader.

Views call nothing that reads stored data before ``page`` has let the request in; everything they read is scoped to
``request.team``. A row of another team is answered like one that does not exist.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from reports.models import Membership, Run, Team, User

ROLES = tuple(role.value for role in Membership.Role)
Handler = Callable[..., HttpResponseBase]


class TeamRequest(HttpRequest):
    """A request that ``page`` has let in: signed in, with a team and a role in it."""

    team: Team
    membership: Membership
    user: User


def role_includes(role: str, needed: str) -> bool:
    """Tell whether a role may do what ``needed`` may: viewer < runner < triager < admin."""
    return ROLES.index(role) >= ROLES.index(needed)


class TeamMiddleware:
    """Give each request its reader's membership: the team chosen in the session, else the first one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.membership = None  # type: ignore[attr-defined]
        if request.user.is_authenticated:
            request.membership = _membership(request)  # type: ignore[attr-defined]
        return self.get_response(request)


def _running_runs() -> Coalesce:
    """Count what this site runs or is about to run for the team; imported reports that say "running" are not ours."""
    ours = Run.objects.filter(team=OuterRef("team"), status__in=("queued", "running"), execution__isnull=False)
    return Coalesce(Subquery(ours.order_by().values("team").annotate(number=Count("pk")).values("number")), 0)


def _membership(request: HttpRequest) -> Membership | None:
    memberships = (
        Membership.objects.filter(user=cast(User, request.user))
        .select_related("team")
        .annotate(running_runs=_running_runs(), team_count=Count("user__memberships"))  # shown by the frame
        .order_by("pk")
    )
    chosen = request.session.get("team")
    return (chosen and memberships.filter(team_id=chosen).first()) or memberships.first()


def page(needed: str = "viewer") -> Callable[[Handler], Handler]:
    """Let only members with a role in: others are sent to sign in, or told that their role is not enough."""

    def decorate(view: Handler) -> Handler:
        @wraps(view)
        def admitted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            membership: Membership | None = getattr(request, "membership", None)
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if membership is None:
                raise PermissionDenied("You are not a member of any team. Ask an admin of your team to add you.")
            if not role_includes(membership.role, needed):
                raise PermissionDenied(f"This needs the role {needed}; you are {membership.role} in {membership.team}.")
            asked = cast(TeamRequest, request)
            asked.team = membership.team
            return view(asked, *args, **kwargs)

        return admitted

    return decorate
