"""``python -m search_trainer.train``: what a training worker has to do, and little else.

``--fault`` makes it go wrong in a way that real ones do.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from mosaic_worker.training import TrainingRun

ENDLESS = 10**9


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("--algo", "--env-id", "--out"):
        parser.add_argument(name, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--total-steps", type=int, default=500)
    parser.add_argument("--step-s", type=float, default=0.0)
    parser.add_argument("--spread", type=float, default=1.0)
    parser.add_argument("--fault", default="none")
    options = parser.parse_args()
    folder = Path(options.out)
    run = TrainingRun(folder, sys.stdout, checkpoint_every_s=0.3)
    try:
        return search(options, run)
    except OSError as error:
        run.fail("failed", f"the run folder cannot be written: {error.strerror}")
        return 1
    except FloatingPointError as error:
        run.fail("failed", str(error))
        return 1
    finally:
        run.close()


def search(options: argparse.Namespace, run: TrainingRun) -> int:
    # One that goes on until a test ends it leaves the machine to the others.
    pause = options.step_s or (0.0005 if options.total_steps >= ENDLESS else 0.0)
    env = gymnasium.make(options.env_id)
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        run.fail("usage", f"search learns discrete actions, and those of {options.env_id} are not")
        return 2
    misbehave(options.fault)
    rng = np.random.default_rng(options.seed)
    best, weights = -np.inf, np.zeros((4, 2))
    step = begun = 0
    if options.resume:
        kept = json.loads((run.folder / "policy.json").read_text())
        if kept["spread"] != options.spread:
            run.fail("usage", f"spread was {kept['spread']} and stays so")
            return 2
        best, weights = kept["best"], np.asarray(kept["weights"])
        step = begun = kept["total_steps"]
        rng.bit_generator.state = kept["rng"]

    def save() -> None:
        row: dict[str, Any] = {"spread": options.spread}
        row |= {
            "best": best,
            "weights": weights.tolist(),
            "total_steps": step,
            "rng": rng.bit_generator.state,
        }
        part = run.folder / "policy.json.part"
        part.write_text(json.dumps(row))
        part.replace(run.folder / "policy.json")

    run.start(options.algo, options.env_id, options.seed, options.total_steps, step)
    with run.stop_on_signals():
        while step < options.total_steps and not run.stop_requested:
            candidate = weights + rng.normal(0, options.spread, weights.shape)
            total, length = play(env, candidate, pause)
            step += length
            if options.fault == "nan" and step > begun + 200:
                total = float("nan")
            run.episode(step, total, length)
            run.metrics(step, {"charts/episodic_return": total, "losses/best": best})
            if not np.isfinite(total):
                raise FloatingPointError(f"the return is not a finite number at step {step}")
            if total >= best:
                best, weights = total, candidate
            run.advance(step, save)
    if options.fault == "disk":
        while True:
            run.metrics(step, {f"losses/{i}": 0.5 for i in range(1000)})
            run.advance(step, save)
    save()
    if options.fault == "linger":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    run.done("completed" if step >= options.total_steps else "stopped", step, best)
    return 0 if step >= options.total_steps else 130


def play(env: gymnasium.Env, weights: np.ndarray, step_s: float) -> tuple[float, int]:
    seen, _ = env.reset(seed=1)
    total, length, over = 0.0, 0, False
    while not over:
        seen, reward, terminated, truncated, _ = env.step(int(np.argmax(seen @ weights)))
        total, length, over = total + float(reward), length + 1, terminated or truncated
        if step_s:
            time.sleep(step_s)
    return total, length


def misbehave(fault: str) -> None:
    if fault == "deaf":
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        time.sleep(600)
    elif fault == "greedy":
        hoard = [
            subprocess.Popen([sys.executable, "-c", "x = b'x' * (300 << 20); import time; time.sleep(600)"])
        ]
        hoard[0].wait()
    elif fault == "shared":
        hoard = bytearray(b"x" * (150 << 20))
        for _ in range(4):
            if os.fork() == 0:
                time.sleep(600)
        print(len(hoard), "bytes are shared", flush=True)
        time.sleep(600)
    elif fault == "abort":
        os.abort()
    elif fault == "untold":
        raise SystemExit("out of luck")
    elif fault == "silent":
        raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main())
