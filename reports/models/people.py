"""People, their teams, and how they get in."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person. ``theme`` is "", "light" or "dark"; empty follows the system."""

    theme = models.CharField(max_length=5, blank=True, default="")


class Team(models.Model):
    """``policy`` is the TOML by which comparisons are judged; "" for the defaults.

    ``ignored`` lists the rules (``evalrunner.compare.ignoring``) by which the side by side leaves members out; None for
    the usual ones.
    """

    name = models.CharField(max_length=200, unique=True)
    policy = models.TextField(blank=True, default="")
    ignored = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's role in a team. Each role includes the ones before it in ``Role``."""

    class Role(models.TextChoices):
        VIEWER = "viewer"
        RUNNER = "runner"
        TRIAGER = "triager"
        ADMIN = "admin"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="membership_once")]


class SignInLink(models.Model):
    """A one-time address that signs a person in. Only the SHA-256 of its token is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_in_links")
    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)


class ApiToken(models.Model):
    """A bearer token of a member. Only its SHA-256 is kept; it ends with its maker's membership."""

    class Scope(models.TextChoices):
        READ = "read"
        WRITE = "write"
        TRIAGE = "triage"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="api_tokens")
    maker = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=200)
    scope = models.CharField(max_length=10, choices=Scope.choices)
    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
