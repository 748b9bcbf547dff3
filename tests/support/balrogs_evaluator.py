"""BALROG as its own users run it: ``python balrogs_evaluator.py FOLDER KEY=VALUE…`` in its interpreter.

Its configuration with what is given laid over it, its agents, its clients, its environments, its evaluator;
nothing of ours. Results are written to the folder.
"""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path

from balrog.agents import AgentFactory
from balrog.evaluator import EvaluatorManager
from balrog.utils import collect_and_summarize_results
from omegaconf import OmegaConf


def main(folder: str, *given: str) -> None:
    config = OmegaConf.create((resources.files("balrog") / "config" / "config.yaml").read_text())
    config = OmegaConf.merge(config, OmegaConf.from_dotlist(list(given)))
    manager = EvaluatorManager(config, original_cwd=str(Path.cwd()), output_dir=folder)
    manager.run(AgentFactory(config))
    collect_and_summarize_results(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
