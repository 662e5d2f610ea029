"""Who calls the API: a bearer token, or a signed-in browser (with a CSRF token wherever something changes).

``needs(role)`` is given to routers and operations as ``auth``; afterwards ``request.team``, ``request.membership`` and
``request.user`` are set like those of ``access.page``, so an operation takes an ``access.TeamRequest``.
"""

from typing import cast

from django.conf import settings
from django.http import HttpRequest
from ninja.errors import AuthenticationError
from ninja.security import HttpBearer
from ninja.security.apikey import APIKeyCookie
from ninja.utils import check_csrf

from reports.access import TeamRequest, role_includes
from reports.api.problems import Problem
from reports.models import Membership
from reports.services.tokens import bearer_of


def needs(role: str) -> list[HttpBearer | APIKeyCookie]:
    """Let in whoever may do what a role may; others are answered 401 or 403."""
    return [BearerToken(role), BrowserSession(role)]


class BearerToken(HttpBearer):
    """``Authorization: Bearer …`` with a token of ``manage.py create_token``."""

    openapi_description = "A token made by `manage.py create_token`."

    def __init__(self, role: str) -> None:
        self.role = role
        super().__init__()

    def authenticate(self, request: HttpRequest, token: str) -> Membership:
        bearer = bearer_of(token)
        if bearer is None:
            raise AuthenticationError(message="This token is unknown, was revoked, or its maker has left the team.")
        if not role_includes(bearer.scope_role, self.role):
            raise Problem(
                403, "scope_too_small", f"This needs the role {self.role}; the token's scope is {bearer.scope}."
            )
        return _admit(request, bearer.membership, self.role)


class BrowserSession(APIKeyCookie):
    """The cookie of a signed-in browser."""

    param_name = settings.SESSION_COOKIE_NAME
    openapi_description = "A signed-in browser; what changes something needs the CSRF token as `X-CSRFToken`."

    def __init__(self, role: str) -> None:
        self.role = role
        super().__init__(csrf=False)

    def authenticate(self, request: HttpRequest, key: str | None) -> Membership | None:
        membership: Membership | None = getattr(request, "membership", None)
        if not request.user.is_authenticated:
            raise AuthenticationError(message="Send a bearer token, or sign in with a browser.")
        if membership is None:
            raise Problem(403, "no_team", "You are not a member of any team.")
        if check_csrf(request) is not None:
            raise Problem(403, "csrf_failed", "The CSRF token is missing or wrong; send it as X-CSRFToken.")
        return _admit(request, membership, self.role)


def _admit(request: HttpRequest, membership: Membership, role: str) -> Membership:
    if not role_includes(membership.role, role):
        raise Problem(
            403, "role_too_small", f"This needs the role {role}; you are {membership.role} in {membership.team}."
        )
    admitted = cast(TeamRequest, request)
    admitted.membership, admitted.team, admitted.user = membership, membership.team, membership.user
    return membership
