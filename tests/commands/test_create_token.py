"""``manage.py create_token``."""

import hashlib
import io

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from reports.models import ApiToken, Membership, Team, User
from tests.factories import make_member, make_team


def made(*arguments: str) -> str:
    out = io.StringIO()
    call_command("create_token", *arguments, stdout=out)
    return out.getvalue().strip()


def test_the_token_is_printed_once_and_kept_as_a_hash(team: Team, runner: User) -> None:
    token = made("--scope", "write", "--name", "nightly")

    stored = ApiToken.objects.get()
    assert stored.token_digest == hashlib.sha256(token.encode()).hexdigest()
    assert (stored.maker, stored.team, stored.scope, stored.name) == (runner, team, "write", "nightly")
    assert Client(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/runs").status_code == 200


def test_maker_and_team_are_named_where_there_are_several(team: Team, runner: User) -> None:
    other = make_team("other")
    member = make_member(other)

    with pytest.raises(CommandError, match="several teams"):
        made("--scope", "read")
    with pytest.raises(CommandError, match="no member of other"):
        made("--scope", "read", "--team", "other", "--user", runner.username)
    made("--scope", "read", "--team", "other", "--user", member.username)

    assert ApiToken.objects.get().maker == member


def test_a_named_maker_who_is_in_one_team_says_which(runner: User, team: Team) -> None:
    """Other teams of the site are none of this member's business."""
    make_member(make_team("other"))

    made("--scope", "read", "--user", runner.username)

    assert (ApiToken.objects.get().team, ApiToken.objects.get().maker) == (team, runner)


def test_a_maker_who_is_in_several_teams_is_asked_for_one_of_them(runner: User, team: Team) -> None:
    second = make_team("second")
    make_team("third")
    Membership.objects.create(team=second, user=runner, role="runner")

    with pytest.raises(CommandError) as refused:
        made("--scope", "read", "--user", runner.username)
    made("--scope", "read", "--user", runner.username, "--team", "second")

    assert f"{runner.username} is a member of several teams ({team.name}, second)" in str(refused.value)
    assert ApiToken.objects.get().team == second


def test_a_maker_without_a_team_or_unknown_is_named(runner: User, team: Team) -> None:
    User.objects.create_user("outsider")

    with pytest.raises(CommandError, match=f"no member of {team.name}"):
        made("--scope", "read", "--user", "outsider")
    with pytest.raises(CommandError, match="There is no user called nobody"):
        made("--scope", "read", "--user", "nobody")


@pytest.mark.parametrize(
    ("role", "scope", "needed"),
    [("viewer", "write", "runner"), ("viewer", "triage", "triager"), ("runner", "triage", "triager")],
)
def test_a_scope_beyond_the_makers_role_is_refused(team: Team, role: str, scope: str, needed: str) -> None:
    member = make_member(team, role)

    with pytest.raises(CommandError) as refused:
        made("--scope", scope)

    said = f"{member.username} is a {role} of {team.name}: a token of the scope {scope} needs the role {needed}."
    assert str(refused.value) == said
    assert not ApiToken.objects.exists()


def test_a_scope_is_needed_and_must_be_one(runner: User) -> None:
    with pytest.raises(CommandError, match="--scope"):
        made()
    with pytest.raises(CommandError, match="invalid choice"):
        made("--scope", "admin")
