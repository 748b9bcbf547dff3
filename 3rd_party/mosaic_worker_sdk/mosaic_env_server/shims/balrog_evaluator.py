"""Runs BALROG's evaluator as an environment whose player takes the role of the evaluated agent.

``Evaluator.run_episode`` runs in a thread and calls an agent again and again. This environment passes each
observation of the evaluator to the player, and the player's action to the evaluator. BALROG's own code writes
the result files.
"""

# Values returned by the packages are untyped.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import fcntl
import queue
import threading
from pathlib import Path
from typing import Any, Callable, Dict, Mapping, Optional, Tuple

from mosaic_env_server.shims.balrog import Balrog, balrog_config, global_numbers

_STARTING = threading.Lock()
"""Held while an episode begins, because a function of BALROG's evaluator module is then replaced."""
_ANY_SEED = 1 << 31


class _EpisodeLeft(Exception):
    """Ends the thread of an episode that the player has left."""


class EvaluatedBalrog(Balrog):
    """A task of BALROG that BALROG's evaluator runs; the seed of an episode is its number there.

    Args:
        game: As :class:`Balrog`.
        task: As :class:`Balrog`.
        results: Folder for the evaluator's result files.
        player: Name of the player, which the result files contain in place of BALROG's agent.
        render_mode: As :class:`Balrog`.
        config: As :class:`Balrog`.
    """

    def __init__(
        self,
        game: str,
        task: str,
        results: str,
        player: str = "mosaic",
        render_mode: Optional[str] = None,
        config: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(game, task, render_mode, config)
        self._folder = Path(results)
        self._player = player
        self._running: Optional[_Running] = None

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Any, Dict[str, Any]]:
        """Make the evaluator begin an episode; an episode in progress is canceled and has no result."""
        self._leave()
        if seed is None:
            import numpy as np

            seed = int(np.random.default_rng().integers(_ANY_SEED))
        self._running = _Running(self, seed)
        with _STARTING, global_numbers(seed):
            self._seen = self._running.begin()
        return self._shown(), {}

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        """Pass an action to the evaluator as the reply of BALROG's agent, and do one step."""
        running = self._running
        if running is None:
            raise RuntimeError("the evaluator runs no episode: call reset first")
        word = self.words[int(action)] if self.words else str(action)
        with self._alone():
            asked = running.say(word)
        self._seen = asked or running.seen
        ended = running.terminated
        if asked is None:
            self._running = None
        cut = asked is None and not ended
        return self._shown(), running.reward, ended, cut, {"progression": self.progression}

    def _shown(self) -> Dict[str, str]:
        return self._observed()

    def instruction(self, mission: str = "") -> str:
        """Return the instruction that the evaluator has passed to its agent."""
        running = self._running
        told = running.agent.prompt_builder.system_prompt if running is not None else None
        return str(told) if told and not mission else super().instruction(mission)

    def close(self) -> None:
        """Cancel the episode and close the environment."""
        self._leave()
        super().close()

    def _leave(self) -> None:
        if self._running is not None:
            self._running.leave()
            self._running = None

    def _alone(self) -> _FolderLock:
        return _FolderLock(self._folder)

    # -- called by the episode in progress

    def evaluate(self, running: _Running, seed: int) -> None:
        """Run one episode of the evaluator, then let BALROG summarize all episodes in the folder."""
        from balrog.evaluator import Evaluator
        from balrog.utils import collect_and_summarize_results
        from omegaconf import OmegaConf

        who = {"agent": {"type": self._player}, "client": {"client_name": "mosaic", "model_id": self._player}}
        config = OmegaConf.merge(self.config, who, {"envs": {"env_kwargs": {"seed": seed}}})
        evaluator = Evaluator(self.game, config, output_dir=str(self._folder))
        evaluator.run_episode(self.task, running.agent, episode_idx=seed)
        collect_and_summarize_results(str(self._folder))


class _AskedAgent:
    """The agent that the evaluator calls; it replies with the result of ``ask``.

    Args:
        ask: Returns the reply to an observation.
        prompt_builder: BALROG's prompt builder, which stores the instruction.
    """

    def __init__(self, ask: Callable[[Any], str], prompt_builder: Any) -> None:
        self._ask, self.prompt_builder = ask, prompt_builder

    def reset(self) -> None:
        """Clear the prompt of the last episode, as BALROG's agents do."""
        self.prompt_builder.reset()

    def act(self, obs: Any, prev_action: Any = None) -> Any:
        """Return the reply to an observation in the form of BALROG's agents."""
        from balrog.client import LLMResponse

        return LLMResponse("mosaic", self._ask(obs), "stop", 0, 0, None)


class _Running:
    """An episode of the evaluator in its own thread.

    Args:
        owner: Environment that runs the episode.
        seed: Seed of the episode, and its number in the evaluator.
    """

    def __init__(self, owner: EvaluatedBalrog, seed: int) -> None:
        from balrog.prompt_builder import create_prompt_builder

        self._owner, self._seed = owner, seed
        self.agent = _AskedAgent(self.ask, create_prompt_builder(balrog_config().agent))
        self._asked: queue.Queue[Any] = queue.Queue()
        self._said: queue.Queue[Optional[str]] = queue.Queue()
        self._thread = threading.Thread(target=self._run, name="evaluator", daemon=True)
        self.reward, self.terminated = 0.0, False
        self.seen: Mapping[str, Any] = {"text": {}}

    def begin(self) -> Mapping[str, Any]:
        """Start the episode and return the first observation."""
        from balrog import evaluator

        usual = evaluator.make_env
        evaluator.make_env = self._made
        try:
            self._thread.start()
            return self._next() or self.seen
        finally:
            evaluator.make_env = usual

    def _made(self, game: str, task: str, config: Any, render_mode: Any = None) -> Any:
        """Create BALROG's environment and record the results of its steps."""
        env = self._owner.made(self._seed)
        step = env.step

        def noted(action: Any) -> Any:
            self.seen, reward, terminated, truncated, info = step(action)
            self.reward, self.terminated = float(reward), bool(terminated)
            return self.seen, reward, terminated, truncated, info

        env.step = noted
        self._owner.env.close()
        self._owner.env = env
        return env

    def say(self, word: str) -> Optional[Mapping[str, Any]]:
        """Pass an action to the evaluator.

        Returns:
            The next observation; ``None`` if the episode has ended and its results are written.
        """
        self._said.put(word)
        return self._next()

    def leave(self) -> None:
        """Cancel the episode and wait for its thread to end."""
        self._said.put(None)
        self._thread.join()

    def ask(self, shown: Any) -> str:
        """Pass an observation to the player and return the player's action; called in the evaluator's
        thread.
        """
        self._asked.put(shown)
        said = self._said.get()
        if said is None:
            raise _EpisodeLeft
        return said

    def _next(self) -> Optional[Mapping[str, Any]]:
        asked = self._asked.get()
        if isinstance(asked, BaseException):
            raise RuntimeError(f"BALROG's evaluator raised {type(asked).__name__}: {asked}") from asked
        return asked

    def _run(self) -> None:
        try:
            self._owner.evaluate(self, self._seed)
            self._asked.put(None)
        except _EpisodeLeft:
            pass
        except BaseException as error:
            self._asked.put(error)


class _FolderLock:
    """Lock on a folder for result files, so that only one process at a time reads and writes them.

    Args:
        folder: The folder; it is created if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._file = (self._folder / ".lock").open("w")
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *error: object) -> None:
        self._file.close()
