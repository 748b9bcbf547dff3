"""Base class :class:`Worker`, which a worker author subclasses, and the types of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Protocol, Tuple

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.codec import stack
from mosaic_worker.spaces import Space, take

if TYPE_CHECKING:
    from mosaic_worker.link import WorkerLink


@dataclass(frozen=True)
class Slot:
    """One agent slot that this worker fills.

    Attributes:
        index: Number of the slot within this process.
        agent_id: The agent's name in the environment, for example ``"green_0"``.
        env_id: Id of the environment. Use it to choose behavior, never to import the environment.
        observation_space: Observation space of the slot, without the action mask.
        action_space: Action space of the slot.
        settings: The slot's settings from the experiment (algorithm, checkpoint, …).
        action_meanings: A word for each discrete action, or empty.
        noop_action: The environment's own no-op action, or ``None`` if it has none.
        secrets: API keys by name, and ``session`` if the manifest has ``session_secret``; never log or
            write them.
        deterministic: Whether to play the policy's mode instead of a sample; ``None`` lets the worker choose.
        briefing: Description of the game for workers that want ``text`` or ``image``: its aim, how to
            read an observation, and the actions.
        team: Name of the slot's team.
        teammates: The other agents of the slot's team.
        opponents: Agents of other teams.
        deadline_s: Time limit for a decision in seconds; ``None`` for no limit.
        seats: Briefing and teams of the slot for episodes in which it plays another agent, by the
            name of that agent; :meth:`at` uses them.
        simulator: Simulator of the environment (engine, version, model), for workers that want ``state``.
        options: Options that a manager may choose for the slot, for example ``"go to(yellow key)"``. The
            observation's ``option`` is an index into them. Empty if the slot has no manager.
    """

    index: int
    agent_id: str
    env_id: str
    observation_space: Space
    action_space: Space
    settings: Mapping[str, Any] = field(default_factory=lambda: _no_settings())
    action_meanings: Sequence[str] = ()
    noop_action: int | None = None
    secrets: Mapping[str, str] = field(default_factory=lambda: _no_settings(), repr=False)
    deterministic: bool | None = None
    briefing: str = ""
    team: str = ""
    teammates: Sequence[str] = ()
    opponents: Sequence[str] = ()
    deadline_s: Optional[float] = None
    seats: Mapping[str, Seat] = field(default_factory=lambda: _no_settings())
    simulator: Mapping[str, Any] = field(default_factory=lambda: _no_settings(), repr=False)
    options: Sequence[str] = ()

    def at(self, agent_id: str, told: Seat | None = None) -> Slot:
        """Return the slot for an episode in which it plays ``agent_id``.

        Args:
            agent_id: ``agent_id`` of the :class:`EpisodeStart`; the slot's own if seats are not swapped.
            told: ``seat`` of the :class:`EpisodeStart`, set for an agent that joined during an episode.
        """
        seat = told or self.seats.get(agent_id)
        return self if seat is None else replace(self, agent_id=agent_id, **seat._asdict())

    def legal_words(self, decision: Decision) -> dict[str, int]:
        """Return the legal actions of ``decision`` by their words.

        Returns:
            Action by word, in the order of the actions; empty if actions have no words. Words that
            depend on the position (``"e2e4"``) are included if the worker wants ``text`` or ``facts``.
        """
        found: dict[str, int] = {}
        if decision.choices:
            for action, word in decision.choices:
                found.setdefault(word, action)
            return found
        legal = decision.legal_actions
        for i, word in enumerate(self.action_meanings):
            if legal is None or i in legal:
                found.setdefault(word, i + self.action_space.start)
        return found


class Seat(NamedTuple):
    """Briefing and teams of a slot when it plays one agent; the fields are those of :class:`Slot`."""

    briefing: str = ""
    team: str = ""
    teammates: Sequence[str] = ()
    opponents: Sequence[str] = ()


def _no_settings() -> dict[str, Any]:
    return {}


class EpisodeStart(NamedTuple):
    """The start of an episode for a slot.

    Attributes:
        episode: Episode number; decisions refer to this number.
        seed: 64-bit policy seed of (episode, agent). All randomness derives from this seed.
        agent_id: The agent that the slot plays in this episode: its own, unless seats are
            swapped. A policy that depends on its side uses this name.
        tokens: Tokens that the run's budgets leave for the slot in this episode; 0 for no limit. A worker
            that pays for its decisions raises :class:`LimitReached` before it would exceed this limit.
        usd: The same limit in US dollars.
        joins: For an agent that joined during an episode: the run's episode that it takes part in.
            ``episode`` then numbers the agent's own episode, while ``tokens`` and ``usd`` are for all
            agents that the slot plays in the run's episode.
        seat: Briefing and teams of an agent that joined, for workers that want ``text`` or ``image``.
    """

    episode: int
    seed: int
    agent_id: str = ""
    tokens: int = 0
    usd: float = 0.0
    joins: int | None = None
    seat: Seat | None = None

    @property
    def run_episode(self) -> int:
        """Number of the run's episode; records of calls use this number."""
        return self.episode if self.joins is None else self.joins


class EpisodeEnd(NamedTuple):
    """The end of an episode for a slot.

    Attributes:
        episode: Episode number.
        total_reward: The agent's return.
        steps: Number of environment steps.
        status: ``completed``, ``failed`` or ``aborted``.
    """

    episode: int
    total_reward: float
    steps: int
    status: str


class Decision(NamedTuple):
    """One decision of a batch, for workers that decide one at a time.

    Attributes:
        id: Id of the decision; its answer carries the same id.
        episode: Episode number.
        step: Environment step.
        seed: Policy seed of the episode.
        observation: The slot's observation.
        action_mask: bool (n_actions,), or ``None`` if every action is legal.
        attempt: 0 for the first attempt, k for the k-th retry.
        reason: Why the previous attempt was refused.
        text: The observation as text, if the worker wants ``text``.
        image: (bytes, MIME type) of a picture, if the worker wants ``image``.
        messages: Messages of teammates since the last decision.
        choices: (action, word) of the legal actions, if words depend on the position.
        facts: The observation as ground facts, for example ``"door(yellow, locked, 2, -1)"``, if the
            worker wants ``facts``.
        state: The simulator's whole state, float64, if the worker wants ``state``.
    """

    id: int
    episode: int
    step: int
    seed: int
    observation: Any
    action_mask: NDArray[np.bool_] | None
    attempt: int
    reason: str
    text: str = ""
    image: tuple[bytes, str] | None = None
    messages: Sequence[str] = ()
    choices: Sequence[tuple[int, str]] = ()
    facts: Sequence[str] = ()
    state: Optional[NDArray[np.float64]] = None

    @property
    def legal_actions(self) -> list[int] | None:
        """Indices of the legal actions, or ``None`` if all actions are legal."""
        return None if self.action_mask is None else np.flatnonzero(self.action_mask).tolist()


@dataclass(frozen=True)
class Batch:
    """Decisions of one slot, from any number of episodes, stacked.

    Attributes:
        slot: The slot that decides.
        ids: Decision ids, length N.
        episodes: Episode of each decision, length N.
        steps: Environment step of each decision, length N.
        seeds: Policy seed of each decision, uint64 (N,).
        observations: Observations stacked by the space: ``(N, *shape)`` for a Box, a dict of stacked
            values for a Dict, a list if values have no common shape.
        action_masks: bool (N, n_actions), or ``None`` if every action is legal.
        attempts: 0 for the first attempt, k for the k-th retry; length N.
        reasons: Why the previous attempt was refused; length N, or empty if none was refused.
        texts: The observations as text, for workers whose ``inputs`` name ``text``.
        images: (bytes, MIME type) of each picture, for workers whose ``inputs`` name ``image``.
        messages: Messages of teammates, for workers whose ``inputs`` name ``messages``.
        choices: (action, word) of the legal actions of each decision, if words depend on the position.
        facts: The observations as ground facts, for workers whose ``inputs`` name ``facts``.
        states: The simulator's whole state, float64, for workers whose ``inputs`` name ``state``.
    """

    slot: Slot
    ids: Sequence[int]
    episodes: Sequence[int]
    steps: Sequence[int]
    seeds: NDArray[np.uint64]
    observations: Any
    action_masks: NDArray[np.bool_] | None = None
    attempts: Sequence[int] = ()
    reasons: Sequence[str] = ()
    texts: Sequence[str] = ()
    images: Sequence[Tuple[bytes, str]] = ()
    messages: Sequence[Sequence[str]] = ()
    choices: Sequence[Sequence[Tuple[int, str]]] = ()
    facts: Sequence[Sequence[str]] = ()
    states: Sequence[NDArray[np.float64]] = ()

    def only(self, i: int) -> Batch:
        """Return a batch with the ``i``-th decision only."""
        k = slice(i, i + 1)
        one = [take(self.slot.observation_space, self.observations, i)]
        return Batch(
            self.slot,
            self.ids[k],
            self.episodes[k],
            self.steps[k],
            self.seeds[k],
            stack(self.slot.observation_space, one),
            None if self.action_masks is None else self.action_masks[k],
            self.attempts[k],
            self.reasons[k],
            self.texts[k],
            self.images[k],
            self.messages[k],
            self.choices[k],
            self.facts[k],
            self.states[k],
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, i: int) -> Decision:
        masks = self.action_masks
        return Decision(
            self.ids[i],
            self.episodes[i],
            self.steps[i],
            int(self.seeds[i]),
            take(self.slot.observation_space, self.observations, i),
            None if masks is None else masks[i],
            self.attempts[i] if self.attempts else 0,
            self.reasons[i] if self.reasons else "",
            self.texts[i] if self.texts else "",
            self.images[i] if self.images else None,
            self.messages[i] if self.messages else (),
            self.choices[i] if self.choices else (),
            self.facts[i] if self.facts else (),
            self.states[i] if self.states else None,
        )

    def __iter__(self) -> Iterator[Decision]:
        return (self[i] for i in range(len(self)))


class Invalid(NamedTuple):
    """Replaces an action if the policy answered but its answer cannot be played.

    Attributes:
        reason: What was wrong, in one sentence; the engine may ask again and pass this reason.
        raw: The raw reply, for the record.
        cause: Kind of problem, for reports: ``unreadable``, ``illegal``, ``time_out``, ``model_error``.
    """

    reason: str
    raw: str = ""
    cause: str = ""


@dataclass(frozen=True)
class Actions:
    """Actions with values or extras; :meth:`Worker.select_actions` may return this instead of actions.

    Attributes:
        actions: One action (or :class:`Invalid`) per decision, in the order of the batch.
        values: State values, float (N,), recorded beside the action; optional.
        extras: A mapping per decision (``tokens``, ``call_ref``, ``scores``), recorded in the row of the
            decision even if the answer is unusable; optional.
    """

    actions: Any
    values: Any = None
    extras: Sequence[Mapping[str, Any] | None] | None = None


class StepResults(NamedTuple):
    """Results of earlier decisions of one slot.

    The host sends results only to workers that define :meth:`Worker.on_step_result`. All sequences
    have length N. A reward is NaN for a slot that reads text if the reward would reveal something
    that the slot's agent may not know.
    """

    slot: Slot
    episodes: Sequence[int]
    steps: Sequence[int]
    observations: Any
    actions: Any
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


class Host(Protocol):
    """Requests that a worker can send to its host; available as ``worker.host`` once connected."""

    def ask_human(self, batch: Batch) -> List[Any]:
        """Let the person at the host choose actions.

        Args:
            batch: Decisions to be made.

        Returns:
            One action per decision, ``None`` if the person did not act in time.
        """
        ...

    def record_call(self, call: Mapping[str, Any]) -> None:
        """Ask the host to write a paid call to the run folder immediately."""
        ...

    def announce(self, slot: Slot, episode: int, tokens: int, usd: float) -> Future[None]:
        """Announce to the host that the worker is about to send a request that may cost money.

        Coroutines of an :class:`~mosaic_worker.concurrent.AsyncWorker` call this in episodes whose start
        has ``tokens`` or ``usd``, and send the request when the future is done. In the record of the
        call, ``announced`` is the number of requests announced for the call, sent or not, each with the
        amounts in ``most``.

        Args:
            slot: Slot that the request is for.
            episode: Number of the run's episode (``EpisodeStart.run_episode``).
            tokens: Largest number of input and output tokens of the request together.
            usd: Largest cost of the request in US dollars; 0 if the price is not known.

        Returns:
            A future that is done once the host has recorded the announcement; it is done immediately
            if the host keeps no announcements.
        """
        ...


class BatchDecider(Protocol):
    """Makes the decisions of a worker in a thread of its own and replies after each decision."""

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        """Handle the start of episodes."""

    def end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        """Handle the end of episodes."""

    def results(self, results: StepResults) -> None:
        """Handle the results of earlier actions."""

    def ask(self, batch: Batch) -> None:
        """Start to decide each decision of a batch."""

    def close(self) -> None:
        """Cancel the decisions in progress."""


class Worker:
    """Base class of workers. Override what you need; only :meth:`select_actions` is required.

    A worker process has one object of this class. The object may fill several slots (the slots of a link
    group share a process and load a file once); by default each slot has its own process. Methods are called
    one at a time, in order, from the main thread.

    Attributes:
        host: Requests to the host; set before :meth:`load`.
        inputs: Additional inputs that every decision needs: ``"text"``, ``"image"``, ``"messages"``.
        in_flight: How many decisions the worker makes in parallel (a worker that waits for a server);
            0 if it takes one batch at a time.
        announces: Whether the worker announces every paid request (:meth:`Host.announce`).
    """

    host: Host
    inputs: Sequence[str] = ()
    in_flight: int = 0
    announces: bool = False

    def connect(self, link: WorkerLink) -> WorkerLink:
        """Return the link that the runtime uses from now on, for example a wrapper of ``link``.

        The runtime calls this once, before it sends ``Welcome``. Only tools that test hosts need
        this; a worker that plays does not.
        """
        return link

    def decider(self, reply: Callable[[Batch, Any], None]) -> BatchDecider | None:
        """Return an object that decides in place of :meth:`select_actions`, or ``None``.

        An :class:`~mosaic_worker.AsyncWorker` has one.

        Args:
            reply: Sends the result of a batch with one decision.
        """
        return None

    def load(self, slot: Slot) -> str | None:
        """Prepare to play ``slot``: read the checkpoint and check that its spaces fit the slot.

        Returns:
            A short name of the policy for the record (for example ``"ppo:cartpole"``), or ``None``.

        Raises:
            LoadError: The slot cannot be played; the message is a sentence for the user.
        """
        return None

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        """Handle the start of episodes. Use ``start.episode`` as the key of state per episode."""

    def select_actions(self, batch: Batch) -> Any:
        """Choose an action for each decision of a batch.

        Returns:
            One action per decision, in order: a stacked array, a list, or :class:`Actions`.
            An element may be :class:`Invalid`. The answer to a decision must not depend on
            which other decisions happen to be in the batch.
        """
        raise NotImplementedError

    def select_together(self, batches: Sequence[Batch]) -> Sequence[Any]:
        """Choose actions for several slots in one call.

        Override this if one call costs less than one call per slot. The runtime passes the batches that
        have arrived so far, at most one per slot. If this raises, the runtime calls
        :meth:`select_actions` for each batch; therefore do not change state before all actions are chosen.

        Returns:
            For each batch, the same result as :meth:`select_actions` would return.
        """
        return [self.select_actions(batch) for batch in batches]

    def on_step_result(self, results: StepResults) -> None:
        """Handle the results of earlier actions. The host sends results only if a subclass defines this."""

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        """Handle the end of episodes: drop their state."""

    def close(self) -> None:
        """Release resources before the process ends."""


class PolicyFailed(Exception):
    """The policy cannot go on, so its episode fails; the message is a sentence for the user.

    Any other exception of a worker fails the episode too, but as an error in the worker's program: the reason
    then contains the exception's name, and the log contains the traceback.
    """


class LimitReached(PolicyFailed):
    """The policy would exceed a limit of tokens, money or time; the message names the amounts.

    Attributes:
        own: Whether the limit applies to each episode separately: the episode is then truncated at this step
            and counts. Otherwise episodes share the budget: the episode is then left unplayed, and is
            played when a larger budget is set.
    """

    own = True


class CannotGoOn(PolicyFailed):
    """No decision of this policy can succeed until a person solves a problem, for example a server is down.

    The run stops and can be resumed; the episode is left unplayed. The message is a sentence.
    """


class LoadError(Exception):
    """A slot cannot be played; the user sees the message unchanged."""
