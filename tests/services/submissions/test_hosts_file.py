"""The file of a person's hosts: written by the window, read by ``--executor ssh``."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.core.errors import ProtocolError, UsageError
from gym_gui.services.submissions.executors import load_profile
from gym_gui.services.submissions.hosts_file import HostsFile, report_of
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.ssh.ssh_profile import Host

ONE = Host("one", command=Command(setup=(". mosaic/bin/activate",), keys="mosaic/keys"))


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MOSAIC_CONFIG_DIR", str(tmp_path))
    return tmp_path / "hosts.yaml"


def test_hosts_are_added_changed_and_removed(kept: Path) -> None:
    file = HostsFile()
    assert not file.load().hosts and not kept.exists()
    file.put(ONE)
    file.put(Host("two", shards=4))
    assert file.load().hosts == (ONE, Host("two", shards=4))
    file.put(Host("three", shards=4), "two")
    assert [host.name for host in file.load().hosts] == ["one", "three"]
    with pytest.raises(UsageError, match="named twice"):
        file.put(Host("one"))
    for name in ("one", "three"):
        file.remove(name)
    assert not kept.exists(), "without a host there is no file"


def test_they_are_the_profile_where_none_is_given(kept: Path) -> None:
    with pytest.raises(UsageError, match="needs a list of hosts"):
        load_profile("ssh", None)
    kept.write_text("ssh_config: lab\nhosts: [one]\n")
    profile = load_profile("ssh", None)
    assert profile.to_record()["ssh_config"] == str(kept.parent / "lab")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("hosts: [one, one]", "hosts.yaml: hosts: 'one' is named twice"),
        ("hosts: [-oProxyCommand=x]", "is not a host name"),
        ("hosts: one", "hosts"),
        ("hosts: [", "not valid YAML"),
        ("hosts: [{host: one, setup: ['export OPENAI_API_KEY=x']}]", "writes OPENAI_API_KEY into a script"),
    ],
)
def test_what_is_wrong_in_it_is_one_line(kept: Path, written: str, said: str) -> None:
    kept.write_text(written)
    with pytest.raises(UsageError) as error:
        HostsFile().load()
    assert said in str(error.value) and "\n" not in str(error.value)


def test_who_is_unknown_is_said_with_the_nearest(kept: Path) -> None:
    HostsFile().put(ONE)
    with pytest.raises(UsageError, match=r"'oen'.*one"):
        HostsFile().load().find("oen")


def test_a_report_tells_who_cannot_play_there() -> None:
    listed = 'Welcome!\n[{"id": "a", "state": "installed"}, {"id": "b", "state": "missing"}]\n'
    found = report_of("one", "1.2", listed, ["a", "b", "c"])
    assert found.sentence == "Reached: MOSAIC 1.2, 1 worker installed, but not b, c."
    with pytest.raises(ProtocolError, match="one: mosaic workers list"):
        report_of("one", "1.2", "Welcome!", [])
