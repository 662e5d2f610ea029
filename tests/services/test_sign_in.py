"""A one-time address works once, for a while, for somebody who may sign in."""

from datetime import timedelta

import pytest

from reports.models import Membership, SignInLink, User
from reports.services.sign_in import SignInLinkRefused, create_sign_in_link, first_admin, redeem_sign_in_link

pytestmark = pytest.mark.django_db


def test_a_link_signs_its_user_in_once(viewer: User) -> None:
    token = create_sign_in_link(user=viewer)

    assert redeem_sign_in_link(token=token) == viewer
    with pytest.raises(SignInLinkRefused):
        redeem_sign_in_link(token=token)


def test_an_expired_link_is_refused(viewer: User) -> None:
    token = create_sign_in_link(user=viewer, valid_for=timedelta(seconds=-1))

    with pytest.raises(SignInLinkRefused):
        redeem_sign_in_link(token=token)


def test_a_link_of_somebody_who_was_shut_out_is_refused(viewer: User) -> None:
    token = create_sign_in_link(user=viewer)
    User.objects.filter(pk=viewer.pk).update(is_active=False)

    with pytest.raises(SignInLinkRefused):
        redeem_sign_in_link(token=token)


@pytest.mark.parametrize("token", ["", "guessed", "\ud800"])
def test_an_unknown_token_is_refused(token: str) -> None:
    with pytest.raises(SignInLinkRefused):
        redeem_sign_in_link(token=token)


def test_the_database_does_not_know_the_token(viewer: User) -> None:
    token = create_sign_in_link(user=viewer)

    assert token not in str(SignInLink.objects.values())


def test_the_first_admin_is_made_once_with_a_team_and_no_password() -> None:
    admin = first_admin()

    assert first_admin() == admin
    assert Membership.objects.get(user=admin).role == "admin"
    assert not admin.has_usable_password()


def test_an_admin_who_is_there_already_is_taken(viewer: User) -> None:
    Membership.objects.filter(user=viewer).update(role="admin")

    assert first_admin() == viewer
