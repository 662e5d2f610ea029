"""What the commands of the embedded set-up print and refuse."""

import io
import socket
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client

from reports.models import Membership, Team, User
from reports.services.sign_in import first_admin


def printed(name: str, *arguments: str) -> str:
    output = io.StringIO()
    call_command(name, *arguments, stdout=output)
    return output.getvalue().strip()


@pytest.mark.django_db
def test_sign_in_link_prints_an_address_of_the_named_site_that_signs_the_first_admin_in(client: Client) -> None:
    address = printed("sign_in_link", "--site", "https://evals.example.org/")

    assert address.startswith("https://evals.example.org/sign-in/")
    assert client.get(address.removeprefix("https://evals.example.org")).status_code == 302
    assert client.session["_auth_user_id"] == str(first_admin().pk)


@pytest.mark.django_db
def test_sign_in_link_signs_in_whom_it_is_asked_to(client: Client, viewer: User) -> None:
    address = printed("sign_in_link", "--user", viewer.username)

    client.get(address.removeprefix("http://127.0.0.1:8000"))

    assert client.session["_auth_user_id"] == str(viewer.pk)


@pytest.mark.django_db
def test_sign_in_link_refuses_an_unknown_name() -> None:
    with pytest.raises(CommandError, match="no active user called 'nobody'"):
        call_command("sign_in_link", "--user", "nobody")


@pytest.mark.django_db
def test_sample_data_go_to_the_named_team_once(team: Team, viewer: User) -> None:
    Membership.objects.filter(user=viewer).update(role="admin")

    assert printed("sample_data", "--team", team.name) == f"7 sample runs are new in {team.name}."
    assert printed("sample_data", "--team", team.name) == f"0 sample runs are new in {team.name}."


@pytest.mark.django_db
def test_sample_data_refuse_a_team_that_is_not_there_or_has_no_admin(team: Team) -> None:
    with pytest.raises(CommandError, match="no team called 'nowhere'"):
        call_command("sample_data", "--team", "nowhere")
    with pytest.raises(CommandError, match="has no admin"):
        call_command("sample_data", "--team", team.name)


def test_quickstart_says_that_a_port_is_taken_before_it_touches_anything(
    settings: LazySettings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(CommandError, match=f"Port {port} on 127.0.0.1 is taken"):
            call_command("quickstart", "--port", str(port))

    assert [path.name for path in tmp_path.iterdir()] == ["quickstart.lock"]
