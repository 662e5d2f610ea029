"""The printed address signs its reader in once."""

import pytest
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_printed_address_leads_to_the_home_page(signed_in_page: Page, live_server: LiveServer) -> None:
    assert signed_in_page.url == f"{live_server.url}/"
