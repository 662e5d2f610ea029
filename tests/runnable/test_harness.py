"""Targets of kind ``harness`` in a targets file."""

from pathlib import Path

import pytest
from django.conf import LazySettings

from reports.models import Team, User
from reports.runnable import TargetsFileError, TargetUnusable, find_target, read_targets
from reports.runnable.harness import HarnessMaker
from reports.services.target_check import check_target
from tests.execution.harness import Harness, scenario

HEAD = '[[target]]\nname = "a"\nkind = "harness"\n'
TAIL = '\n[target.fingerprint]\nfrom = "asked"\n'


def maker(keys: str, folder: Path) -> HarnessMaker:
    [entry] = read_targets(HEAD + keys + TAIL, folder=folder)
    assert isinstance(entry.maker, HarnessMaker)
    return entry.maker


def test_without_further_keys_nothing_but_reading_is_allowed(tmp_path: Path) -> None:
    made = maker("", tmp_path)

    assert made.all_tools == ("fs.read", "fs.list", "search.ripgrep")
    assert (made.post_run_commands, made.mcp, made.hooks, made.approvals) == (False, False, False, "deny")
    assert made.allowed().profiles == ("fake",)
    assert "danger_full_access" not in made.allowed().sandbox_policies


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ('tools = ["fs.read"]', "target.0.tools.0"),
        ('sandbox_policies = ["read_only", "none"]', "target.0.sandbox_policies.1"),
        ('approval_policies = ["maybe"]', "target.0.approval_policies.0"),
        ('approvals = "wait"', "target.0.approvals"),
        ('config = "missing.toml"', "target.0.config"),
        ('workspace = "missing"', "target.0.workspace"),
        ('scenarios = ["missing.jsonl"]', "target.0.scenarios.0"),
        ('environment = ["NOT A NAME"]', "target.0.environment.0"),
        ('suites = ["x.json"]', "target.0.suites"),
        ("post_run_commands = 1", "target.0.post_run_commands"),
    ],
)
def test_faults_are_named_with_their_key(tmp_path: Path, keys: str, path: str) -> None:
    with pytest.raises(TargetsFileError) as caught:
        read_targets(HEAD + keys + TAIL, folder=tmp_path)

    assert path in [fault.path for fault in caught.value.faults]


def test_a_version_must_be_found_somewhere(tmp_path: Path) -> None:
    with pytest.raises(TargetsFileError, match="exact version"):
        read_targets(HEAD, folder=tmp_path)


def test_a_configuration_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[profiles.x]\nprovider = 1\n")
    (tmp_path / "none.toml").write_text('[profiles.fake]\nprovider = "fake"\nmodel_id = "x"\nenabled = false\n')

    for name in ("bad.toml", "none.toml"):
        with pytest.raises(TargetUnusable, match="configuration"):
            maker(f'config = "{name}"', tmp_path).allowed()


def test_check_targets_tells_what_works(tmp_path: Path, settings: LazySettings, team: Team, runner: User) -> None:
    harness = Harness(tmp_path, settings, team, runner)
    harness.write(scenario("greedy", sandbox_policy={"kind": "danger_full_access"}))
    entry = find_target("assistant")
    assert entry is not None

    found = list(check_target(entry, opens_session=True))

    sentences = [each.sentence for each in found]
    assert len(sentences) == len(set(sentences))
    assert any("profiles fake, scripted; tools fs.read" in each.sentence and each.is_sound for each in found)
    assert any("rows.jsonl: The row 'greedy' asks for" in each.sentence and not each.is_sound for each in found)
