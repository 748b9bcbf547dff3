"""Serves environments to MOSAIC from an interpreter, or a machine, of their own.

Any Gymnasium or PettingZoo environment, and those of old gym, that something importable makes: nothing
has to be written for it. Needs numpy and protobuf. ``python -m mosaic_env_server`` is started by the
player; ``python -m mosaic_env_server.remote`` waits for players on other machines. What is said is in
``docs/environment_server.md``.

An environment may say more than its interface: where it, or what it wraps, has one of these methods, a
player can ask.

* ``mosaic_text(agent)``: what the agent sees, in words. Told to language models.
* ``mosaic_facts(agent)``: the same as ground facts, ``[["at", 2, 3], ...]``. For BDI agents.
* ``mosaic_briefing(agent)``: what the game is, and how to read the text.
* ``mosaic_success()``: whether the task was solved in the episode that ends.
* ``mosaic_scores()``: score by team at this moment.

and where its ``metadata`` has ``action_meanings`` (words by number, or by agent), ``teams`` (agents by team),
``noop`` (the action that does nothing), ``hidden_information``, ``one_at_a_time`` (all instances share one
world) or ``summary``, they are used.
"""

from mosaic_env_server.server import EnvironmentServer

__all__ = ["EnvironmentServer"]
