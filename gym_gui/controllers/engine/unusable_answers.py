"""Handles answers that cannot be played: ask again, substitute an action, or end the episode."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gym_gui.controllers.engine.bound_operator import noop_of
from gym_gui.controllers.engine.episode import Episode
from gym_gui.core.enums import ActionSource, EpisodeStatus, Limit, Loss, UnusableCause
from gym_gui.core.errors import SpaceError
from gym_gui.core.experiment.assignment import OnInvalid
from gym_gui.core.experiment.legality import problem_with
from gym_gui.core.records import SERVER, WORKER
from gym_gui.core.seeding import action_seed
from gym_gui.core.spaces import NotInSpace, sample_legal
from gym_gui.core.types import CAUSE, AgentID, Answer, Decision
from gym_gui.services.backends import SlotInfo
from mosaic_worker.rng import bits_of

_UNPLAYED = (Limit.RUN, Limit.STOP)


def take_unusable(
    episode: Episode, answer: Answer, rule: OnInvalid | None, slot: SlotInfo
) -> Decision | None:
    """Handle an unusable answer as configured for the slot.

    Args:
        episode: The episode that waits for the answer.
        answer: A failure, or an invalid action.
        rule: The slot's configuration; without one, the episode fails.
        slot: The agent's own spaces.

    Returns:
        The question that is asked once more; ``None`` if the agent has acted or cannot go on.
    """
    decision = answer.decision
    agent = decision.agent_id
    if answer.failure:
        episode.refused[agent] = answer.failure
        if answer.limit is not None:
            episode.limits[agent] = answer.limit
        if answer.loss is Loss.GIVEN_UP:
            episode.lost = WORKER
        if answer.limit is Limit.STOP:
            episode.lost = SERVER
        return None
    episode.invalid[agent] = episode.invalid.get(agent, 0) + 1
    if rule is not None and decision.attempt < rule.retry:
        return episode.ask_again(decision, answer.invalid)
    cause = _cause_of(answer)
    episode.unusable[agent] = episode.unusable.get(agent, 0) + 1
    episode.causes.setdefault(agent, Counter())[cause.value] += 1  # a string, as JSON needs
    then = rule.then if rule is not None else "error"
    if then == "error":
        episode.refused[agent] = f"unusable action at step {episode.steps}: {answer.invalid}"
        return None
    try:
        action, source = _in_its_place(episode, decision, slot, then)
    except (SpaceError, NotInSpace) as exc:
        reason = f"unusable action at step {episode.steps}, and nothing to put in its place: {exc}"
        episode.refused[agent] = reason
        return None
    episode.substitute(decision, action, source, answer, cause)
    return None


def how_refused(episode: Episode) -> tuple[EpisodeStatus, str]:
    """Return the final status of an episode in which an agent cannot continue, and the reason.

    The status is ``FAILED``, or ``ABORTED`` if the episode counts as unplayed, or ``COMPLETED`` if the
    episode ends here, truncated.
    """
    # All agents have answered: which agent is blamed must not depend on who answered first.
    refused = [agent for agent in episode.asked if agent in episode.refused]
    broken = [agent for agent in refused if agent not in episode.limits]
    spent: list[AgentID] = [agent for agent in refused if episode.limits.get(agent) in _UNPLAYED]
    blamed = (broken or spent or refused)[0]
    reason = f"{blamed}: {episode.refused[blamed]}"
    if spent and not broken:
        return EpisodeStatus.ABORTED, reason
    return EpisodeStatus.FAILED if broken or not episode.steps else EpisodeStatus.COMPLETED, reason


def _in_its_place(
    episode: Episode, decision: Decision, slot: SlotInfo, then: str
) -> tuple[Any, ActionSource]:
    """Return the substitute action, in its space's own type, and its source.

    The action passes through the codec, so that it has the same type as an action of a policy.

    Raises:
        SpaceError: There is no substitute.
        NotInSpace: The environment's own no-op is not in its action space.
    """
    if then == "noop":
        action, source = noop_of(slot, decision.action_mask), ActionSource.NOOP
    elif then == "default":
        action, source = _default_of(slot, decision), ActionSource.DEFAULT
    else:
        stream = action_seed(episode.plan.seed, episode.index, decision.agent_id)
        draw = bits_of(stream, decision.step)
        action = sample_legal(slot.action_codec.space, decision.action_mask, draw)
        source = ActionSource.RANDOM_LEGAL
    return slot.action_codec.decode(slot.action_codec.encode(action)), source


def _default_of(slot: SlotInfo, decision: Decision) -> Any:
    action = slot.default_action
    if action is None:
        raise SpaceError("its environment names no default for that")
    if problem := problem_with(slot.action_codec.space, action, decision.action_mask):
        raise SpaceError(f"its environment's default cannot be played: {problem}")
    return action


def _cause_of(answer: Answer) -> UnusableCause:
    """Return the cause of an unusable answer: the worker's own, else one derived from the answer's fields."""
    extras = answer.extras or {}
    told = extras.get(CAUSE)
    if isinstance(told, str) and told in tuple(UnusableCause):
        return UnusableCause(told)
    if answer.action is not None:
        return UnusableCause.ILLEGAL
    return UnusableCause.UNREADABLE if "raw" in extras else UnusableCause.OTHER
