"""``manage.py import_reports``."""

import gzip
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from reports.models import Generation, Run, Team
from tests.bad_reports import BAD_FILES, BAD_NAMES, BadFile, hostile_report
from tests.factories import make_member, make_team, report


def run_command(*arguments: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("import_reports", *map(str, arguments), stdout=out, stderr=err)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_every_file_is_answered_and_a_bad_one_does_not_stop_the_others(team: Team, tmp_path: Path) -> None:
    text = json.dumps(report("P")).encode()
    first = written(tmp_path, "first.json", text)
    broken = written(tmp_path, "broken.json", text[:100])
    last = written(tmp_path, "last.json.gz", gzip.compress(json.dumps(report("F")).encode()))

    code, out, err = run_command(first, broken, tmp_path / "missing.json", last, first)

    answers = [line.rsplit(": ", 1)[1].split(",")[0] for line in out.splitlines()]
    assert (code, answers) == (1, ["created", "created", "unchanged"])
    assert "broken.json: refused (not_json)" in err
    assert "missing.json: cannot be read: No such file or directory" in err
    assert "2 of 5 files were refused" in err
    assert Run.objects.count() == 2


@pytest.mark.parametrize("bad", BAD_FILES, ids=BAD_NAMES)
def test_bad_files_are_refused_with_code_and_place(team: Team, tmp_path: Path, bad: BadFile) -> None:
    code, out, err = run_command(written(tmp_path, "bad", bad.make()))

    assert (code, out) == (1, "")
    assert f"refused ({bad.code})" in err
    if bad.path:
        assert f"  {bad.path} " in err
    assert (Run.objects.count(), Generation.objects.count()) == (0, 0)


def test_hostile_text_is_imported_and_its_faults_are_printed_in_ascii(team: Team, tmp_path: Path) -> None:
    value = hostile_report()
    assert run_command(written(tmp_path, "hostile.json", json.dumps(value).encode()))[0] == 0

    code, _, err = run_command(written(tmp_path, "b\u202e.json", json.dumps(value | {"\ud83d\x00": 1}).encode()))

    assert code == 1
    assert err.isascii()
    assert "\\ud83d\\x00" in err


def test_the_team_must_be_clear(tmp_path: Path, db: None) -> None:
    path = written(tmp_path, "r.json", json.dumps(report("P")).encode())
    with pytest.raises(CommandError, match="no team yet"):
        run_command(path)
    one, other = make_team("one"), make_team("other")
    make_member(other, "runner")
    with pytest.raises(CommandError, match="several teams"):
        run_command(path)
    with pytest.raises(CommandError, match="no team called nowhere"):
        run_command("--team", "nowhere", path)

    assert run_command("--team", "other", path)[0] == 0

    assert (Run.objects.get().team, Run.objects.get().origin) == (other, "command")
    assert not Run.objects.for_team(one).exists()
