"""API tokens: shown once when they are made, kept as a hash, worth what their maker still is in the team."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from reports.models import ApiToken, Membership, Team, User

PREFIX = "evalsite_"
_NOTED_EVERY = timedelta(minutes=1)
ROLE_OF_SCOPE = {
    ApiToken.Scope.READ: Membership.Role.VIEWER,
    ApiToken.Scope.WRITE: Membership.Role.RUNNER,
    ApiToken.Scope.TRIAGE: Membership.Role.TRIAGER,
}

_ROLES = Membership.Role.values  # each includes the ones before it


class TokenRefusedError(ValueError):
    """A token cannot be made as asked; the text says why."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whom a token speaks for: the member who made it, and the role that its scope stands for."""

    membership: Membership
    scope: str
    scope_role: str


def create_token(*, team: Team, maker: User, scope: str, name: str) -> str:
    """Make a token and return its text: it can never be read again.

    TokenRefusedError for a scope that there is not, or that is more than the maker's role in the team.
    """
    if scope not in ApiToken.Scope.values:
        raise TokenRefusedError(f"{scope} is no scope; the scopes are {', '.join(ApiToken.Scope.values)}.")
    role = Membership.objects.filter(team=team, user=maker).values_list("role", flat=True).first()
    if role is None:
        raise TokenRefusedError(f"{maker.username} is no member of {team.name}.")
    needed = ROLE_OF_SCOPE[ApiToken.Scope(scope)]
    if _ROLES.index(role) < _ROLES.index(needed):
        raise TokenRefusedError(
            f"{maker.username} is a {role} of {team.name}: a token of the scope {scope} needs the role {needed}."
        )
    text = PREFIX + secrets.token_urlsafe(32)
    ApiToken.objects.create(team=team, maker=maker, name=name[:200], scope=scope, token_digest=_digest(text))
    return text


def bearer_of(text: str) -> Bearer | None:
    """Return whom a token speaks for; None for an unknown or revoked one, and after its maker left the team."""
    token = ApiToken.objects.filter(token_digest=_digest(text), revoked_at__isnull=True).first()
    if token is None:
        return None
    member = Membership.objects.filter(team_id=token.team_id, user_id=token.maker_id, user__is_active=True)
    membership = member.select_related("team", "user").first()
    if membership is None:
        return None
    _note_use(token)
    return Bearer(membership, token.scope, ROLE_OF_SCOPE[ApiToken.Scope(token.scope)])


def _note_use(token: ApiToken) -> None:
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > _NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
