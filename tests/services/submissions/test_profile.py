"""Files of hosts: what they mean, and one line for each mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gym_gui.core.errors import UsageError
from gym_gui.core.validation import ConfigError
from gym_gui.services.submissions.executors import load_profile
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.ray.ray_profile import RayProfile, ray_profile_of
from gym_gui.services.submissions.slurm.slurm_profile import SlurmProfile, slurm_profile_of
from gym_gui.services.submissions.ssh.ssh_profile import Host, SshProfile, ssh_profile_of


def test_what_stands_beside_the_hosts_holds_for_each() -> None:
    profile = ssh_profile_of(
        {"shards": 4, "setup": ["module load x"], "hosts": ["one", {"host": "me@two", "shards": 1}]}
    )
    command = Command(setup=("module load x",))
    assert profile.hosts == (Host("one", shards=4, command=command), Host("me@two", command=command))
    assert profile.places == 5
    assert ssh_profile_of(profile.to_record()) == profile


def test_a_key_may_be_read_from_where_it_is_kept() -> None:
    lines = ["export OPENAI_API_KEY=$(cat key)", ". ./keys.env", "export PATH=/opt/bin:$PATH"]
    assert list(ssh_profile_of({"hosts": ["a"], "setup": lines}).hosts[0].command.setup) == lines


def test_a_configuration_lies_beside_its_file(tmp_path: Path) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text("hosts: [one]\nssh_config: ssh.conf\n")
    profile = load_profile("ssh", file)
    assert isinstance(profile, SshProfile) and profile.ssh_config == str(tmp_path / "ssh.conf")


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ({}, "hosts: names 0 hosts, but 1 to 1000 are allowed"),
        ({"hosts": "one"}, "hosts: must be a list, not 'one'"),
        ({"hosts": ["one", "one"]}, "hosts: 'one' is named twice"),
        ({"hosts": [{"shards": 2}]}, "hosts[0]: has no host"),
        ({"hosts": ["-oProxyCommand=x"]}, "hosts[0].host: '-oProxyCommand=x' is not a host name"),
        ({"hosts": [{"host": "a", "shards": 0}]}, "hosts[0].shards: must lie between 1 and 256, not 0"),
        ({"hosts": [{"host": "a", "folder": "../b"}]}, "hosts[0].folder: '../b' cannot be used"),
        ({"hosts": [{"host": "a", "setup": "x"}]}, "hosts[0].setup: must be a list, not 'x'"),
        ({"hosts": [{"host": "a", "mosiac": "x"}]}, "hosts[0].mosiac: unknown key"),
        ({"hosts": ["a"], "processes": "many"}, "processes: must be a whole number, not 'many'"),
        ({"hosts": ["a"], "setup": [":", "export X=1 HF_TOKEN=hf_1"]}, "setup[1]: writes HF_TOKEN into a"),
        ({"hosts": [{"host": "a", "keys": "../k"}]}, "hosts[0].keys: '../k' cannot be used"),
        ({"hosts": ["a"], "setup": ["a\nb"]}, "setup[0]: contains unprintable characters"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, data: dict[str, Any], line: str) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text(yaml.safe_dump(data))
    with pytest.raises(UsageError) as refused:
        load_profile("ssh", file)
    assert str(refused.value).startswith(f"hosts.yaml: {line}")


def test_what_a_job_asks_for() -> None:
    data = {
        "partition": "short",
        "account": "lab",
        "time": "1:30:00",
        "memory": "4G",
        "cpus": 2,
        "gpus": 1,
        "options": ["--exclusive"],
        "setup": ["module load python"],
        "mosaic": "apptainer exec mosaic.sif mosaic",
    }
    profile = slurm_profile_of(data)
    asked = "--partition=short --account=lab --time=1:30:00 --mem=4G --cpus-per-task=2 --gres=gpu:1"
    assert profile.asked == [*asked.split(), "--requeue", "--exclusive"]
    assert profile.command == Command("apptainer exec mosaic.sif mosaic", ("module load python",))
    assert slurm_profile_of(profile.to_record()) == profile
    assert slurm_profile_of(None) == SlurmProfile() == load_profile("slurm", None)


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("time: 1:30:00", "time: is a number. Write it in quotes"),
        ("time: soon", "time: 'soon' cannot be used"),
        ("memory: 4 GB", "memory: '4 GB' cannot be used"),
        ("partition: 'a; rm -rf x'", "partition: 'a; rm -rf x' cannot be used"),
        ("options: [--array=1-9]", "options[0]: '--array' is set by MOSAIC"),
        ("options: ['--export=ALL,HF_TOKEN=hf_1']", "options[0]: '--export' cannot be given"),
        ("requeue: sometimes", "requeue: must be true or false, not 'sometimes'"),
        ("hosts: [one]", "hosts: unknown key"),
    ],
)
def test_a_mistake_of_a_job_is_one_line(tmp_path: Path, written: str, line: str) -> None:
    file = tmp_path / "slurm.yaml"
    file.write_text(written)
    with pytest.raises(UsageError) as refused:
        load_profile("slurm", file)
    assert str(refused.value).startswith(f"slurm.yaml: {line}")


def test_what_a_task_asks_for() -> None:
    data = {"address": "ray://head:10001", "cpus": 2, "gpus": 0.5, "memory": "4G", "resources": {"a100": 1}}
    profile = ray_profile_of({**data, "shards": 32, "keys": "~/keys", "setup": ["module load python"]})
    options = {"num_cpus": 2, "num_gpus": 0.5, "memory": 4 * 2**30, "resources": {"a100": 1}}
    assert profile.options == options
    assert profile.needs == {"CPU": 2, "GPU": 0.5, "memory": 4 * 2**30, "a100": 1}
    assert profile.command == Command(setup=("module load python",), keys="keys")
    assert ray_profile_of(profile.to_record()) == profile
    assert ray_profile_of(None) == RayProfile()
    assert RayProfile().options == {"num_cpus": 1, "num_gpus": 0}


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("address: head", "address: 'head' cannot be used"),
        ("address: ray://head:10001/x", "address: 'ray://head:10001/x' cannot be used"),
        ("cpus: many", "cpus: must be a number, not 'many'"),
        ("gpus: 1.5", "gpus: is 1.5"),
        ("memory: 4 GB", "memory: '4 GB' cannot be used"),
        ("resources: [a100]", "resources: must be"),
        ("resources: {GPU: 1}", "resources.GPU: has a key of its own"),
        ("resources: {a100: 0}", "resources.a100: must lie between 0.0001"),
        ("shards: 0", "shards: must lie between 1 and 10000, not 0"),
        ("setup: ['export WANDB_API_KEY=w1']", "setup[0]: writes WANDB_API_KEY into a script"),
        ("hosts: [one]", "hosts: unknown key"),
    ],
)
def test_a_mistake_of_a_task_is_one_line(written: str, line: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ray_profile_of(yaml.safe_load(written))
    assert str(refused.value).startswith(line)


@pytest.mark.parametrize("time", ["1", "0:59", "1:59", "0:01:59", "0-0:1"])
def test_a_time_in_which_nothing_can_be_kept_is_refused(time: str) -> None:
    with pytest.raises(ConfigError, match="is too short"):
        slurm_profile_of({"time": time})


@pytest.mark.parametrize("time", ["2", "2:00", "0:02:00", "0-1", "1-0:00:01", "90"])
def test_times_are_as_sbatch_takes_them(time: str) -> None:
    assert slurm_profile_of({"time": time}).time == time
