"""Serves environments to MOSAIC from a separate interpreter or machine.

The server can serve any Gymnasium, PettingZoo or old gym environment that an importable function or class
creates, without further code. It needs numpy and protobuf. The player is the program that steps the
environments. The player starts ``python -m mosaic_env_server``; ``python -m mosaic_env_server.remote`` waits
for players on other machines. ``docs/environment_server.md`` describes the messages.

An environment may offer more than its interface. If the environment, or one that it wraps, has one of
these methods, a player can call it:

* ``mosaic_text(agent)``: returns the agent's observation as text, for language models.
* ``mosaic_facts(agent)``: returns the observation as ground facts, ``[["at", 2, 3], ...]``, for BDI agents.
* ``mosaic_briefing(agent)``: returns a description of the game and of how to read the text.
* ``mosaic_success()``: returns whether the task was solved in the episode that ends.
* ``mosaic_scores()``: returns the current score by team.

These keys of its ``metadata`` are used too: ``action_meanings`` (words by number, or by agent), ``teams``
(agents by team), ``noop`` (the action that does nothing), ``hidden_information``, ``one_at_a_time`` (all
instances share one simulation) and ``summary``.
"""

from mosaic_env_server.server import EnvironmentServer

__all__ = ["EnvironmentServer"]
