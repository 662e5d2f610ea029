"""No path leads out of the workspace."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from evalrunner.harness.errors import ToolError
from evalrunner.harness.runtime.tools.tree import MissingError, Tree, _Walk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SECRET = b"secret of somebody else"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a neighbour that must never be seen, and links of every kind."""
    (tmp_path / "secret.txt").write_bytes(SECRET)
    (tmp_path / "ws-neighbour").mkdir()
    (tmp_path / "ws-neighbour" / "secret.txt").write_bytes(SECRET)
    root = tmp_path / "ws"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "src" / "b.txt").write_text("b")
    (root / "inside").symlink_to("src")
    (root / "src" / "up").symlink_to("../a.txt")
    (root / "absolute-inside").symlink_to(root / "src" / "b.txt")
    (root / "out").symlink_to("../secret.txt")
    (root / "out-folder").symlink_to("..")
    (root / "src" / "out-by-steps").symlink_to("../../secret.txt")
    (root / "out-absolute").symlink_to(tmp_path / "secret.txt")
    (root / "out-neighbour").symlink_to(tmp_path / "ws-neighbour")
    (root / "around").symlink_to("around")
    (root / "chain").symlink_to("chain-2")
    (root / "chain-2").symlink_to("out")
    return root


def read(root: Path, path: str) -> bytes:
    with Tree(root).reading(path) as spot:
        return spot.read(1000)


def write(root: Path, path: str) -> None:
    with Tree(root).writing(path, make_folders=True) as spot:
        spot.put(b"new")


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.txt", b"a"),
        ("./a.txt", b"a"),
        ("src//b.txt", b"b"),
        ("src/../a.txt", b"a"),
        ("src/deep/../../a.txt", b"a"),
        ("inside/b.txt", b"b"),
        ("inside/deep/../b.txt", b"b"),
        ("src/up", b"a"),
        ("inside/up", b"a"),
        ("absolute-inside", b"b"),
    ],
)
def test_paths_that_stay_inside_are_read_also_through_links(root: Path, path: str, content: bytes) -> None:
    assert read(root, path) == content


def test_an_absolute_path_may_name_the_workspace_however_it_is_written(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other-name").symlink_to(root)

    assert read(root, f"{root}/a.txt") == b"a"
    assert read(tmp_path / "other-name", f"{root}/a.txt") == b"a"
    assert read(tmp_path / "other-name", f"{tmp_path}/other-name/a.txt") == b"a"


HOSTILE = [
    "../secret.txt",
    "src/../../secret.txt",
    "inside/../../secret.txt",
    "/etc/passwd",
    "//etc/passwd",
    "out",
    "out-folder/secret.txt",
    "src/out-by-steps",
    "out-absolute",
    "out-neighbour/secret.txt",
    "around",
    "chain",
    "a.txt\0b",
    "\ud800",
    "x/" * 3000 + "y",
]


@pytest.mark.parametrize("path", [*HOSTILE, "..", "src/../.."])
def test_a_path_that_leads_out_or_nowhere_cannot_be_read(root: Path, path: str) -> None:
    with pytest.raises(ToolError) as caught:
        read(root, path)

    assert SECRET.decode() not in str(caught.value)


def test_an_absolute_path_beside_the_workspace_is_refused_though_its_name_begins_alike(root: Path) -> None:
    with pytest.raises(ToolError, match="leads out of the workspace"):
        read(root, f"{root}-neighbour/secret.txt")
    with pytest.raises(ToolError, match="leads out of the workspace"):
        read(root, f"{root}/../secret.txt")


@pytest.mark.parametrize("path", [*HOSTILE, "src/../new.txt", "", ".", "src", "out-folder/new.txt", "a.txt/new"])
def test_a_hostile_path_cannot_be_written_and_nothing_is_left_behind(root: Path, path: str) -> None:
    before = sorted(root.parent.rglob("*"))

    with pytest.raises(ToolError):
        write(root, path)

    assert (root.parent / "secret.txt").read_bytes() == SECRET
    if not path.startswith("x/"):
        assert sorted(root.parent.rglob("*")) == before


def test_writing_follows_a_link_that_stays_inside_and_makes_folders(root: Path) -> None:
    write(root, "inside/up")
    write(root, "inside/new/folders/c.txt")

    assert (root / "a.txt").read_text() == "new"
    assert (root / "src" / "up").is_symlink()
    assert (root / "src" / "new" / "folders" / "c.txt").read_text() == "new"


def test_a_missing_folder_is_told_from_other_faults(root: Path) -> None:
    with pytest.raises(MissingError, match=r"^no/x: No such file"):
        read(root, "no/x")
    with pytest.raises(ToolError, match=r"^a\.txt/x: Not a directory"):
        read(root, "a.txt/x")


def test_a_pipe_is_refused_without_waiting_for_a_writer(root: Path) -> None:
    os.mkfifo(root / "pipe")

    with pytest.raises(ToolError, match="not a regular file"):
        read(root, "pipe")


def test_a_file_that_is_replaced_keeps_its_permissions(root: Path) -> None:
    (root / "a.txt").chmod(0o740)

    write(root, "a.txt")

    assert (root / "a.txt").stat().st_mode & 0o777 == 0o740


def count_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_descriptors_are_closed_whatever_happens(root: Path) -> None:
    before = count_descriptors()

    for path in ["src/deep/../b.txt", *HOSTILE]:
        with contextlib.suppress(ToolError):
            read(root, path)

    assert count_descriptors() == before


@pytest.fixture
def swap_after_look(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, Path], None]:
    """Let a link take the place of a file or folder just after it was seen to be no link."""

    def arrange(place: Path, target: Path) -> None:
        look = _Walk._link

        def look_then_swap(walk: _Walk, name: str) -> str | None:
            seen = look(walk, name)
            if name == place.name and not place.is_symlink():
                place.rename(place.with_name(f"moved-{name}"))
                place.symlink_to(target)
            return seen

        monkeypatch.setattr(_Walk, "_link", look_then_swap)

    return arrange


@pytest.mark.parametrize("path", ["src/secret.txt", "src/../a.txt/x"])
def test_a_folder_that_turns_into_a_link_while_it_is_read_shows_nothing_from_outside(
    root: Path, swap_after_look: Callable[[Path, Path], None], path: str
) -> None:
    swap_after_look(root / "src", root.parent)

    with pytest.raises(ToolError, match="Not a directory"):
        read(root, path)


def test_a_file_that_turns_into_a_link_while_it_is_read_shows_nothing_from_outside(
    root: Path, swap_after_look: Callable[[Path, Path], None]
) -> None:
    swap_after_look(root / "a.txt", root.parent / "secret.txt")

    with pytest.raises(ToolError, match="a symbolic link has taken its place"):
        read(root, "a.txt")


def test_what_turns_into_a_link_while_it_is_written_to_leaves_the_outside_alone(
    root: Path, swap_after_look: Callable[[Path, Path], None]
) -> None:
    swap_after_look(root / "a.txt", root.parent / "secret.txt")
    write(root, "a.txt")
    swap_after_look(root / "src", root.parent)
    with pytest.raises(ToolError, match="Not a directory"):
        write(root, "src/secret.txt")

    assert (root.parent / "secret.txt").read_bytes() == SECRET
    assert (root / "a.txt").read_text() == "new"


names = st.sampled_from(
    ["..", ".", "", "src", "deep", "inside", "out-folder", "out", "up", "secret.txt", "a.txt", "ws"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(names, max_size=8), st.booleans())
def test_no_path_of_known_names_reads_the_secret(root: Path, parts: list[str], is_absolute: bool) -> None:
    path = (f"{root}/" if is_absolute else "") + "/".join(parts)

    try:
        content = read(root, path)
    except ToolError:
        return

    assert content != SECRET
