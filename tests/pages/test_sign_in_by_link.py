"""The address that `quickstart` prints."""

import pytest
from django.test import Client
from django.urls import reverse

from reports.models import User
from reports.services.sign_in import create_sign_in_link


@pytest.fixture
def address(viewer: User) -> str:
    return reverse("sign-in-by-link", args=[create_sign_in_link(user=viewer)])


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_opening_it_signs_in_and_leads_home(client: Client, address: str) -> None:
    answer = client.get(address)

    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert is_signed_in(client)
    assert "no-store" in answer["Cache-Control"]


def test_a_second_reader_is_told_how_to_get_another(client: Client, address: str) -> None:
    client.get(address)

    answer = Client().get(address)

    assert answer.status_code == 410
    assert "manage.py sign_in_link" in answer.content.decode()


def test_coming_back_to_it_while_signed_in_leads_home(client: Client, address: str) -> None:
    client.get(address)

    answer = client.get(address)

    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_a_preview_does_not_use_it_up(client: Client, address: str) -> None:
    assert client.head(address).status_code == 405
    assert client.get(address, headers={"Sec-Purpose": "prefetch"}).status_code == 503
    assert not is_signed_in(client)

    assert client.get(address).status_code == 302
