"""Runs one of BALROG's agents in one episode, with a client that calls the model through MOSAIC."""

# BALROG is untyped: all its values are Any.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from balrog.agents import AgentFactory
from balrog.client import LLMResponse
from omegaconf import OmegaConf

from balrog_worker.settings import FEW_SHOT, BalrogSettings
from mosaic_env_server.shims.balrog import balrog_config
from mosaic_llm_worker.chat_servers.servers import Completion, Message

_NOT_SENT = "vllm"
"""Client that BALROG's factory makes; it is replaced before the first request."""


class SendPrompt(Protocol):
    """Sends a prompt and waits for the reply; called from the agent's thread."""

    def __call__(self, messages: Sequence[Message]) -> Completion: ...


class Client:
    """Client through which BALROG's agents call the model.

    Args:
        ask: Sends a prompt and waits for the reply.
    """

    def __init__(self, ask: SendPrompt) -> None:
        self._ask = ask
        self.last = Completion("", "")

    def generate(self, messages: Sequence[Any]) -> Any:
        """Send BALROG's messages and return the reply in BALROG's format."""
        self.last = reply = self._ask([{"role": each.role, "content": each.content} for each in messages])
        return LLMResponse(
            model_id=reply.model,
            completion=reply.text.strip(),
            stop_reason=reply.finish,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            reasoning=None,
        )


class Agent:
    """One of BALROG's agents, made by its own factory.

    Args:
        settings: Settings with the name of the agent and the lengths of its histories.
        shown: Demonstrated episodes for the few-shot agent, as turns of (observation, action).
    """

    def __init__(self, settings: BalrogSettings, shown: Sequence[Sequence[tuple[str, str]]] = ()) -> None:
        config = OmegaConf.merge(balrog_config(), _config(settings))
        self._agent: Any = AgentFactory(config).create_agent()
        self._agent.reset()
        if settings.agent == FEW_SHOT:
            for episode in shown:
                self._show(episode)
        self._before = self._state()

    def _show(self, episode: Sequence[tuple[str, str]]) -> None:
        for seen, done in episode:
            self._agent.update_icl_observation({"text": {"long_term_context": seen}})
            self._agent.update_icl_action(done)
        self._agent.wrap_episode()

    def instruct(self, instruction: str) -> None:
        """Set the instruction at the beginning of the agent's prompts."""
        self._agent.prompt_builder.update_instruction_prompt(instruction)

    def save_state(self) -> None:
        """Save the agent's current state for :meth:`restore`."""
        self._before = self._state()

    def restore(self) -> None:
        """Restore the state saved by :meth:`save_state`, because the decision is repeated."""
        vars(self._agent).update(copy.deepcopy(self._before))

    def act(self, long: str, short: str, said: str | None, ask: SendPrompt) -> tuple[str | None, str]:
        """Let the agent act in one turn.

        Args:
            long: Part of the observation that stays in the agent's memory.
            short: Part of the observation that does not stay in its memory.
            said: The agent's action of the previous turn; ``None`` at the first turn.
            ask: Sends the agent's prompt and waits for the reply.

        Returns:
            The agent's action as text, ``None`` if there is none; and the whole reply of the model.
        """
        self._agent.client = client = Client(ask)
        seen = {"text": {"long_term_context": long, "short_term_context": short}}
        with contextlib.redirect_stdout(None):
            response = self._agent.act(seen, prev_action=said)
        return response.completion, client.last.text

    def _state(self) -> Mapping[str, Any]:
        return copy.deepcopy({name: kept for name, kept in vars(self._agent).items() if name != "client"})


def reader_of(settings: BalrogSettings) -> Callable[[str], str | None]:
    """Return a function that returns the action an agent reads in a reply, without calling a model."""

    def read(text: str) -> str | None:
        said, _ = Agent(settings).act("", "", None, lambda messages: Completion(text))
        return said

    return read


def _config(settings: BalrogSettings) -> dict[str, Any]:
    return {
        "agent": {
            "type": settings.agent,
            "max_text_history": settings.max_text_history,
            "max_image_history": 0,
            "max_cot_history": settings.max_cot_history,
            "max_icl_history": settings.max_icl_history,
        },
        "client": {"client_name": _NOT_SENT, "model_id": settings.model_id},
    }
