"""Commands that pages show and that no test runs, each with the reason.

Everything else that a page shows is run: :mod:`tests.docs.test_every_page`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.commands import ROOT

_WINDOW = "opens the window; its own tests are in tests/ui"
_DOWNLOADS = "downloads packages; its own tests are in tests/packaging and tests/cli"
_SERVER = "a program that is not part of this"
_YOURS = "a file or a run of the reader's; its own tests are in tests/cli and 3rd_party"
_SUITE = "the tests themselves"
_INTERRUPTED = "ended by Ctrl-C; its own tests are in tests/cli"
_LONG = "takes an hour; its own tests are in tests/peer"
_MACHINE = "changes the machine"
_TRAINING = "trains for long; shorter ones are run in the worker's own tests"
_ELSEWHERE = "run as the README shows it"
_SITE = "another machine; tests/cli plays on a real sshd and a real Slurm"

NOT_RUN: Final[Mapping[str, Mapping[str, str]]] = {
    "README.md": {"./scripts/run.sh": _WINDOW, "./scripts/test.sh": _SUITE},
    "CONTRIBUTING.md": {
        "./scripts/run.sh --headless": _ELSEWHERE,
        "./scripts/test.sh": _SUITE,
        "./scripts/test.sh --full": _SUITE,
        "pip install torch==2.13.0": _DOWNLOADS,
        "pip install -c requirements/constraints.txt -e 3rd_party/mosaic_worker_sdk -e '.[dev]'": _DOWNLOADS,
        "pip install -c requirements/constraints.txt -r requirements/base.txt": _DOWNLOADS,
    },
    "docs/balrog.md": {
        "mosaic workers install balrog_worker --from balrog-0.1.0.tar.gz --from baba-0.0.1.tar.gz"
        " --from minigrid-2.3.1.tar.gz": _DOWNLOADS,
        "mosaic run docs/examples/balrog_evaluation.yaml --trust": (
            "needs BALROG; its own tests are in tests/cli"
        ),
    },
    "docs/bdi/interpreters.md": {
        "apt-get install default-jdk-headless": _MACHINE,
        "mosaic workers install jason_worker": _DOWNLOADS,
        "mosaic workers check jason_worker --env MiniGrid-Empty-5x5-v0"
        " --set program=docs/examples/bdi/empty.asl": (
            "needs its interpreter; its own tests are in tests/workers"
        ),
    },
    "docs/bdi/spade.md": {
        "mosaic workers install spade_worker": _DOWNLOADS,
        "mosaic workers check spade_worker --env MiniGrid-Empty-5x5-v0 "
        "--set program=docs/examples/bdi/empty.asl": ("needs SPADE; its own tests are in tests/workers"),
    },
    "docs/cluster.md": {
        "mosaic run study.yaml --executor local --shards 4 --detach": (
            "goes on without the command; its own tests are in tests/cli"
        ),
    },
    "docs/cluster/ssh.md": {
        "ssh one true": _SITE,
        "ssh one 'git clone URL mosaic && mosaic/scripts/run.sh --headless'": _SITE,
        "ssh one 'mosaic/.venv/bin/mosaic --version'": _SITE,
        "mosaic run FILE --executor ssh --profile hosts.yaml --dry-run": _SITE,
        "mosaic run FILE --executor ssh --profile hosts.yaml": _SITE,
    },
    "docs/cluster/slurm.md": {
        "module load python/3.11": _SITE,
        "git clone URL mosaic && mosaic/scripts/run.sh --headless": _SITE,
        "mosaic run FILE --executor slurm --profile slurm.yaml --dry-run": _SITE,
        "mosaic run FILE --executor slurm --profile slurm.yaml": _SITE,
    },
    "docs/cluster/ray.md": {
        "mosaic install ray": _SITE,
        "git clone URL mosaic && mosaic/scripts/run.sh --headless": _SITE,
        "mosaic run FILE --executor ray --profile ray.yaml --dry-run": _SITE,
        "mosaic run FILE --executor ray --profile ray.yaml": _SITE,
        "mosaic train --env CartPole-v1 --seeds 20 --executor ray --profile ray.yaml": _SITE,
    },
    "docs/doorkey.md": {
        "mosaic run docs/examples/doorkey/doorkey.yaml": "plays for minutes; its own tests are in tests/cli",
        "mosaic train --env Skills/MiniGrid-DoorKey-8x8-v0 --worker cleanrl_worker --steps 400000 "
        "--set normalize_observations=true --set ent_coef=0.01 --out learnt_skills": _TRAINING,
        "mosaic train --env MiniGrid-DoorKey-8x8-v0 --worker cleanrl_worker --steps 400000 "
        "--set ent_coef=0.01 --out ppo": _TRAINING,
    },
    "docs/everyone.md": {
        "ollama pull llama3.2 && ollama serve": _SERVER,
        "mosaic run docs/examples/everyone/everyone.yaml": "wants a server; its own tests are in tests/cli",
        "mosaic train --env SingleAgent/MosaicMultiGrid-S-G-1v0-v1 --worker cleanrl_worker --algo ppo_lstm "
        "--steps 1500000 --set select=image,direction --set normalize_observations=true --set num_envs=16 "
        "--set lstm_size=128 --out soccer_policy": _TRAINING,
    },
    "docs/soccer_transfer.md": {
        "scripts/experiments/soccer_transfer.sh": "plays for minutes; its experiments are read in tests/cli",
        "scripts/experiments/soccer_transfer.sh --train": _TRAINING,
    },
    "docs/self_play.md": {
        "mosaic train --worker cleanrl_worker --algo self_play --env connect_four_v3 --steps 400000 "
        "--out connect_four": _TRAINING,
        "mosaic train --worker cleanrl_worker --algo self_play --env connect_four_v3 "
        "--set pool=random,docs/examples/tournaments/connect_four_pool.yaml": _TRAINING,
    },
    "docs/zero_shot.md": {
        "scripts/experiments/zero_shot.sh --train": _TRAINING,
        "scripts/experiments/zero_shot.sh": "plays for minutes; its tournament is read in tests/cli",
    },
    "docs/tournaments.md": {
        "mosaic tournament docs/examples/tournaments/connect_four.yaml": (
            "plays for minutes; its own tests are in tests/cli"
        ),
        "mosaic tournament docs/examples/tournaments/connect_four_kinds.yaml --trust": "plays for minutes",
        "python docs/examples/tournaments/connect_four_policy.py connect_four.zip": _TRAINING,
        "cd docs/examples/tournaments && mosaic policies add ../../../connect_four.zip "
        "--env connect_four_policy:AgainstSomebody": _YOURS,
    },
    "docs/cross_play.md": {
        "mosaic tournament docs/examples/bdi/cross_play.yaml --trust": (
            "plays for half a minute; its own tests are in tests/cli"
        ),
    },
    "docs/matrix.md": {
        "mosaic run docs/examples/matrix/soccer.yaml": "plays for minutes; its test is in tests/controllers"
    },
    "docs/command_line/policies.md": {
        "mosaic policies add best_model.zip --env CartPole-v1 --name theirs --licence MIT": _YOURS,
    },
    "docs/command_line/replay.md": {
        "mosaic rerun runs/01M84HGDMTKMMY7RJ790S2Z17M": _YOURS,
        "mosaic reparse runs/01M84GHGE9MSJXGWRAPJB5QRFR": _YOURS,
    },
    "docs/command_line/run.md": {
        "mosaic run experiment.py --concurrency 1": _INTERRUPTED,
        "mosaic run --resume runs/01M81B09C8C58Q2B3SH6YKBZZ0": _INTERRUPTED,
    },
    "docs/command_line/training.md": {
        "mosaic train --env CartPole-v1 --steps 30000 --seeds 5": _TRAINING,
    },
    "docs/faults.md": {
        "python scripts/faults/faults.py": _LONG,
        "python scripts/faults/faults.py --quick": _LONG,
        "python scripts/faults/faults.py --only 85": _LONG,
    },
    "docs/getting_started.md": {
        "git clone URL mosaic && cd mosaic": _DOWNLOADS,
        "./scripts/run.sh --headless": _ELSEWHERE,
        ". .venv/bin/activate": "changes the shell alone",
        "mkdir -p ~/experiments && cd ~/experiments": "changes the shell alone",
    },
    "docs/installation.md": {
        "python scripts/release/release.py --address https://HOST/OWNER/NAME --out dist --without-bill": (
            "run in tests/scripts/test_release.py"
        ),
        "uv tool install --with dist/mosaic_worker-0.1.0-py3-none-any.whl"
        " 'dist/mosaic_gym_gui-0.1.0-py3-none-any.whl[gui]'": _DOWNLOADS,
        "python -m pip install hatchling twine": _DOWNLOADS,
        "mkdir wheels && cp dist/*.whl wheels": _DOWNLOADS,
        "mosaic wheelhouse wheels --extra gui --env crafter": _DOWNLOADS,
        "python3 -m venv mosaic && mosaic/bin/pip install --no-index --find-links wheels"
        " 'mosaic-gym-gui[gui]'": _DOWNLOADS,
        "mosaic/bin/mosaic envs install crafter --offline wheels": _DOWNLOADS,
        "mosaic": _WINDOW,
    },
    "docs/guide/index.md": {"./scripts/run.sh": _WINDOW, "mosaic": _WINDOW},
    "docs/guide/troubleshooting.md": {"sudo usermod -aG input $USER": _MACHINE},
    "docs/language_models.md": {
        "ollama pull llama3.2 && ollama serve": _SERVER,
        "llama-server -m model.gguf --port 8080 --parallel 8": _SERVER,
        "vllm serve Qwen/Qwen2.5-7B-Instruct": _SERVER,
        "transformers serve --port 8000": _SERVER,
        'python -m venv V && V/bin/pip install "llama-cpp-python[server]"': _DOWNLOADS,
        "MOSAIC_LLAMA_CPP_PYTHON=V/bin/python pytest tests/workers/language/test_llama_cpp.py": _SERVER,
    },
    "docs/language_models/records.md": {
        "mosaic run --replay RUN": _YOURS,
        "mosaic reparse RUN": _YOURS,
    },
    "docs/policies.md": {
        "mosaic policies add ppo.cleanrl_model --env CartPole-v1": _YOURS,
        "mosaic policies add best_model.zip --env CartPole-v1 --vecnormalize vecnormalize.pkl "
        "--licence MIT": _YOURS,
        "mosaic policies add colleague.zip": _YOURS,
        "mosaic policies add mine.pt --env CartPole-v1 --describe network.json": _YOURS,
        "mosaic policies add model.zip --env CartPole-v1 --describe layers.json": _YOURS,
        "mosaic policies add final_train_model.pth --env simple_spread_v3 --worker xuance_worker "
        "--config qmix.yaml": _YOURS,
        "mosaic workers install ray_worker": _DOWNLOADS,
        "mosaic policies add checkpoint/ --env CartPole-v1 --worker ray_worker": _YOURS,
    },
    "docs/environment_server.md": {
        "pip install './3rd_party/mosaic_worker_sdk[grpc]'": _DOWNLOADS,
        "MOSAIC_WORKER_TOKEN=… python -m mosaic_env_server.remote --env Maze-v0=my_package.maze:make"
        " --listen 0.0.0.0:7312 --tls-cert cert.pem --tls-key key.pem": _YOURS,
    },
    "docs/simulators.md": {
        "mosaic envs install airsim": _DOWNLOADS,
        "mosaic envs install unreal": _DOWNLOADS,
        "mosaic envs install smac": _DOWNLOADS,
    },
    "docs/run_directory.md": {"jq -s 'map(.usd // 0) | add' operators/*/calls.jsonl": _YOURS},
    "docs/training_protocol.md": {
        "mosaic train --worker search_worker --algo search --env CartPole-v1 --steps 5000": (
            "run by tests/docs/test_training_protocol.py, with the page's worker"
        ),
    },
    "docs/worker_protocol/carriers.md": {
        "pip install './3rd_party/mosaic_worker_sdk[grpc]'": _DOWNLOADS,
        "MOSAIC_WORKER_TOKEN=… python -m mosaic_worker.remote my_worker --entry my_package.main:MyWorker "
        "--listen 0.0.0.0:7311 --tls-cert cert.pem --tls-key key.pem": _YOURS,
    },
    "3rd_party/cleanrl_worker/README.md": {
        "mosaic train --worker cleanrl_worker --algo ippo --env simple_spread_v3": _TRAINING,
        "mosaic train --worker cleanrl_worker --algo ppo --env CartPole-v1": _TRAINING,
        "python -m cleanrl_worker.train --algo ppo --env-id CartPole-v1 --seed 1 --out runs/ppo_cartpole": (
            _TRAINING
        ),
    },
    "3rd_party/mosaic_worker_sdk/README.md": {"mosaic workers check alternate_worker": _YOURS},
    "3rd_party/ray_worker/README.md": {
        "mosaic workers install ray_worker": _DOWNLOADS,
        "mosaic train --worker ray_worker --algo ppo --env CartPole-v1": _TRAINING,
        "mosaic train --worker ray_worker --algo ppo --env simple_spread_v3 --num-env-runners 2": _TRAINING,
        "mosaic train --worker ray_worker --algo impala --env CartPole-v1 --address 10.0.0.5:6379": _SITE,
        "mosaic policies add checkpoint/ --env CartPole-v1 --worker ray_worker": _YOURS,
        "python -m ray_worker.importing checkpoint --env-id simple_spread_v3 --out policies/spread "
        "--mapping '*=shared'": _YOURS,
    },
    "3rd_party/sb3_worker/README.md": {
        "mosaic policies add model.zip --env CartPole-v1 --worker sb3_worker": _YOURS,
        "python -m sb3_worker.importing model.zip --env-id CartPole-v1 --out policies/pole": _YOURS,
        "python -m sb3_worker.importing model.zip --env-id Pendulum-v1 --out policies/swing "
        "--vecnormalize statistics.pkl --frame-stack 3": _YOURS,
        "mosaic train --worker sb3_worker --algo sac --env Pendulum-v1": _TRAINING,
        "python -m sb3_worker.train --algo ppo --env-id CartPole-v1 --seed 1 --out runs/ppo_pole": (
            _TRAINING
        ),
    },
    "3rd_party/xuance_worker/README.md": {
        "mosaic workers install xuance_worker": _DOWNLOADS,
        "mosaic train --worker xuance_worker --algo qmix --env simple_spread_v3": _TRAINING,
        "mosaic train --worker xuance_worker --algo mappo --env MosaicMultiGrid-Soccer-2vs2-IndAgObs-v0 "
        "--set max_episode_steps=200": _TRAINING,
        "mosaic train --worker xuance_worker --algo maddpg --env my_module:make_env": _YOURS,
        "mosaic policies add final_train_model.pth --env simple_spread_v3 --worker xuance_worker "
        "--config vdn.yaml": _YOURS,
        "mosaic policies add final_train_model.pth --env simple_spread_v3 --worker xuance_worker "
        "--algorithm vdn": _YOURS,
    },
}
"""By page and command, why no test runs it."""

ONLY_IN_FULL: Final[Mapping[str, frozenset[str]]] = {
    "docs/command_line/training.md": frozenset({"mosaic train --env CartPole-v1 --steps 30000 --out pole"}),
    # On three seeds it is always run; what comes of enough of them, tests/cli show.
    "docs/study.md": frozenset({"mosaic run docs/examples/study/study.yaml"}),
}
"""By page, the commands that only the long tests run."""

_QUICKSTART: Final = f"mosaic run {ROOT / 'docs/examples/quickstart.py'}"
_TRAINED: Final = ROOT / "docs/examples/checkpoints/ppo_cartpole"

SHORTER: Final[Mapping[str, Mapping[str, str]]] = {
    "README.md": {"./scripts/run.sh --headless": f"{_QUICKSTART} --episodes 2"},
    "docs/getting_started.md": {
        "mosaic run mixed.py": "mosaic run mixed.py --episodes 2",
        "mosaic train --env CartPole-v1 --steps 40000": (
            f"cp -r {_TRAINED} runs/ppo_CartPole-v1_seed1"  # that it trains, tests/cli show
        ),
        "mosaic run trained.py": "mosaic run trained.py --episodes 2",
    },
}
"""By page and command, what all but the long tests run instead; what it prints is not compared."""

NEEDS_TRAINED: Final = frozenset(
    {
        "docs/command_line.md",
        *(f"docs/command_line/{page.name}" for page in (ROOT / "docs" / "command_line").glob("*.md")),
        "docs/policies.md",
        "3rd_party/sb3_worker/README.md",
    }
)
"""Pages whose commands train policies or play trained ones: not to be followed without PyTorch."""


def not_run(page: str) -> Mapping[str, str]:
    """The commands of a page, given by its path in the checkout, that are not run, and why."""
    return NOT_RUN.get(page, {})
