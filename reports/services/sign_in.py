"""Signing in by a one-time address: for the embedded set-up, where nobody has a password.

The token stands in the address alone; the database keeps its SHA-256.
"""

import hashlib
import secrets
from datetime import timedelta

from django.utils import timezone

from reports.models import Membership, SignInLink, Team, User

VALID_FOR = timedelta(hours=24)
FIRST_TEAM = "My team"
FIRST_USER = "admin"


class SignInLinkRefused(Exception):
    """The token is unknown, used, expired, or belongs to somebody who may not sign in any more."""


def create_sign_in_link(*, user: User, valid_for: timedelta = VALID_FOR) -> str:
    """Return the token of a new link; it signs ``user`` in once, until it expires."""
    token = secrets.token_urlsafe(32)
    SignInLink.objects.create(user=user, token_digest=_digest(token), expires_at=timezone.now() + valid_for)
    return token


def redeem_sign_in_link(*, token: str) -> User:
    """Use a link up and return whom it signs in; of two requests at the same moment one is refused.

    Raises SignInLinkRefused.
    """
    now = timezone.now()
    user = User.objects.filter(sign_in_links__token_digest=_digest(token), is_active=True).first()
    # Without a join: PostgreSQL would not look at used_at again after it has waited for the other request.
    usable = SignInLink.objects.filter(token_digest=_digest(token), used_at=None, expires_at__gt=now)
    if user is None or usable.update(used_at=now) != 1:
        raise SignInLinkRefused
    return user


def first_admin() -> User:
    """Return the admin that has been there longest, making one with a team of its own where nobody is yet."""
    admin = Membership.objects.filter(role=Membership.Role.ADMIN, user__is_active=True).order_by("pk").first()
    if admin is not None:
        return admin.user
    user, _ = User.objects.get_or_create(username=FIRST_USER, defaults={"password": "!"})
    team, _ = Team.objects.get_or_create(name=FIRST_TEAM)
    Membership.objects.update_or_create(team=team, user=user, defaults={"role": Membership.Role.ADMIN})
    return user


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
