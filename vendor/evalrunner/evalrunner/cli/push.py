"""``evalrunner push REPORT… --site URL``: publish reports to a site and print the addresses of their runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from evalrunner.cli.arguments import whole
from evalrunner.cli.inputs import InputError, UnreadableError
from evalrunner.cli.publishing import Follower, publish
from evalrunner.cli.site import ReportRefused, Site, token_from

SUMMARY = "publish reports to a site and print the addresses of their runs"
USAGE_EXIT = 4
DONE: Final = 0
TOKEN_VARIABLE: Final = "EVALSITE_TOKEN"
_DAY_S: Final = 24 * 3600


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reports", metavar="REPORT", nargs="+", help="a report, JSON, plain or in gzip or zstd")
    parser.add_argument("--site", required=True, metavar="URL", help="the site, for instance https://evals.example.org")
    add_token_argument(parser)
    parser.add_argument(
        "--follow", action="store_true", help="publish while a run goes on that writes this one report, to its end"
    )
    parser.add_argument(
        "--patience",
        type=whole(7 * _DAY_S),
        default=3600,
        metavar="S",
        help="with --follow: give up when the report has not changed for so many seconds, default 3600",
    )


def add_token_argument(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    parser.add_argument(
        "--token-env",
        default=TOKEN_VARIABLE,
        metavar="NAME",
        help=f"the environment variable that holds the site's token, default {TOKEN_VARIABLE}",
    )


def connect(address: str, token_variable: str) -> Site:
    """Return the site that the user named; InputError when it or the token is none."""
    site = Site(address, token_from(token_variable), token_name=f"the token in {token_variable}")
    if site.is_exposed:
        tell("note: without https everybody on the way can read the token")
    return site


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def execute(arguments: argparse.Namespace) -> int:
    """Publish and give the exit status; a report that is refused does not keep the others back."""
    if arguments.follow and len(arguments.reports) != 1:
        raise InputError("--follow takes one report")
    site = connect(arguments.site, arguments.token_env)
    try:
        if arguments.follow:
            return _follow(site, Path(arguments.reports[0]), arguments.patience)
        return max([_push(site, Path(path)) for path in arguments.reports])
    except KeyboardInterrupt:
        return USAGE_EXIT


def _push(site: Site, path: Path) -> int:
    try:
        published = publish(site, path, tell=tell)
    except (ReportRefused, UnreadableError) as error:
        tell(str(error))
        return USAGE_EXIT
    tell(f"{path}: {published.outcome}")
    show(published.url)
    return DONE


def _follow(site: Site, path: Path, patience_s: int) -> int:
    published = Follower(site, path, tell=tell, patience_s=patience_s).follow(found=show)
    tell(f"{path}: finished, {published.outcome}")
    return DONE


def show(url: str) -> None:
    print(url, flush=True)
