"""What a child process finds in its environment."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.inherited_environment import inherited
from gym_gui.services.secrets import resolve_secrets
from gym_gui.workers.environment_variables import engine_environment, worker_environment
from gym_gui.workers.manifest import ManifestError
from tests.support.little_workers import RANDOM, little_worker


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's environment with nothing but what a test puts there."""
    for name in set(os.environ) - {"PATH", "HOME", "MOSAIC_DATA_DIR", "PYTEST_CURRENT_TEST"}:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "ANTHROPIC_APIKEY", "OPENROUTER_KEY", "KEY", "openai_key", "KEYS_OF_MINE"),
        *("HF_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "X_CREDENTIALS"),
        *("GITHUB_PAT", "DATABASE_URL", "SENTRY_DSN", "TF_VAR_db", "SLURM_JWT", "MOSAIC_TOKEN", "MY_OWN"),
    ],
)
def test_what_is_not_known_to_be_needed_stays(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, "x")
    assert name not in inherited()
    assert name not in engine_environment()


@pytest.mark.parametrize(
    "name",
    [
        *(
            "PATH",
            "HOME",
            "DISPLAY",
            "XAUTHORITY",
            "LANG",
            "LC_ALL",
            "TMPDIR",
            "XDG_RUNTIME_DIR",
            "PYTHONPATH",
        ),
        *("CUDA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "ROCR_VISIBLE_DEVICES", "SLURM_JOB_ID"),
        *("https_proxy", "NO_PROXY", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "OMP_NUM_THREADS", "MUJOCO_GL"),
        *("PYTHONPATH", "SDL_VIDEODRIVER", "QT_QPA_PLATFORM", "MOSAIC_DATA_DIR"),
    ],
)
def test_what_children_need_is_inherited(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, "x")
    assert inherited()[name] == "x"


def test_a_manifest_names_more_for_its_own_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("http_proxy", "http://me:word@proxy:3128")
    plain = little_worker(tmp_path, RANDOM)
    asking = little_worker(tmp_path, RANDOM, "asking", launch={"inherits": ["WANDB_MODE", "http_proxy"]})
    first, second = worker_environment(plain), worker_environment(asking)
    assert ("WANDB_MODE" in first, second["WANDB_MODE"]) == (False, "offline")
    assert first["http_proxy"] == "http://proxy:3128", "a proxy's password is for who asks for it"
    assert second["http_proxy"] == "http://me:word@proxy:3128"


def test_a_manifest_does_not_name_a_secret(tmp_path: Path):
    with pytest.raises(ManifestError, match="keys are settings"):
        little_worker(tmp_path, RANDOM, launch={"inherits": ["HF_TOKEN"]})


def test_who_runs_environments_hands_on_what_it_does_not_show_them():
    code = (
        "import os; from gym_gui.core.inherited_environment import inherited, set_aside; set_aside();"
        "print(os.environ.get('WANDB_MODE'), os.environ['http_proxy'],"
        " *[inherited(['WANDB_MODE', 'http_proxy'])[n] for n in ('WANDB_MODE', 'http_proxy')])"
    )
    shown = {"WANDB_MODE": "offline", "http_proxy": "http://me:word@proxy", "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code], env=shown, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "http://proxy", "offline", "http://me:word@proxy"]


def test_a_variable_that_an_experiment_names_as_secret_is_withheld(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MOSAIC_HARMLESS", "sk-1")
    assert "MOSAIC_HARMLESS" in inherited()
    player = WorkerAssignment("mosaic_llm_worker", "llm", {"api_key": "env:MOSAIC_HARMLESS"})
    assert resolve_secrets(player) == {"api_key": "sk-1"}
    assert "MOSAIC_HARMLESS" not in inherited(["MOSAIC_HARMLESS"])


def test_one_thread_no_gpu_and_a_cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2")
    monkeypatch.setenv("MOSAIC_CACHE_DIR", str(tmp_path))
    env = worker_environment(little_worker(tmp_path, RANDOM))
    assert env["OMP_NUM_THREADS"] == "1"
    assert env["MKL_NUM_THREADS"] == "3", "what the person set stays"
    assert env["CUDA_VISIBLE_DEVICES"] == ""
    assert env["HF_HOME"].startswith(str(tmp_path / "workers/little_worker"))
    assert env["MOSAIC_WORKER_CACHE"] == str(tmp_path / "workers/little_worker")
    assert env["MOSAIC_REQUESTS_DIR"] == str(tmp_path / "requests")
    assert (
        worker_environment(little_worker(tmp_path, RANDOM, "two"), ("1", "0"))["CUDA_VISIBLE_DEVICES"]
        == "1,0"
    )


def test_the_manifest_has_the_last_word(tmp_path: Path):
    launch = {"env": {"OMP_NUM_THREADS": "8", "MY_MODE": "fast"}}
    env = worker_environment(little_worker(tmp_path, RANDOM, launch=launch))
    assert (env["OMP_NUM_THREADS"], env["MY_MODE"]) == ("8", "fast")


def test_an_interpreter_of_its_own_gets_the_sdk_and_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PYTHONPATH", "/of/ours")
    definition = little_worker(tmp_path, RANDOM)
    assert "/of/ours" in worker_environment(definition)["PYTHONPATH"].split(os.pathsep)
    foreign = replace(definition, launch=replace(definition.launch, python=Path("/opt/py/bin/python")))
    path = worker_environment(foreign)["PYTHONPATH"].split(os.pathsep)
    assert path[0] == str(tmp_path / "little_worker")
    assert [Path(p, "mosaic_worker").is_dir() for p in path[1:]] == [True]
    assert not set(path) & {p for p in sys.path if "site-packages" in p}
