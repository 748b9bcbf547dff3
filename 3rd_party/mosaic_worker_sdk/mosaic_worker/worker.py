"""The one class a worker author writes."""

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
        env_id: The environment's id. For choosing behavior; never for importing it.
        observation_space: What the slot sees, the action mask taken out.
        action_space: What the slot may do.
        settings: The slot's settings from the experiment (algorithm, checkpoint, …).
        action_meanings: A word for each discrete action, or empty.
        noop_action: The environment's own no-op, or ``None`` where it has none.
        secrets: API keys by name, and ``session`` where the manifest has ``session_secret``; never log or
            write them.
        deterministic: Ask for the policy's mode instead of a sample; ``None`` leaves it to the worker.
        briefing: The game in words, for workers that want ``text`` or ``image``: what it is about,
            how to read what is shown, what the actions are.
        team: Name of the slot's team.
        teammates: The other agents of it.
        opponents: Agents of other teams.
        deadline_s: Longest time for a decision in seconds; ``None``: there is none.
        seats: Briefing and teams of the slot where it sits in another agent's place, by that agent;
            :meth:`at` uses it.
        simulator: What is inside the environment (engine, version, model), for workers that want ``state``.
        options: What a manager may ask of the slot, ``"go to(yellow key)"``, by the number that stands in the
            observation's ``option``; empty where the slot has no manager.
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
        """The slot as it is in an episode in which it plays ``agent_id``.

        Args:
            agent_id: Of the episode's start; its own where seats are not swapped.
            told: The start's ``seat``, of an agent that has appeared.
        """
        seat = told or self.seats.get(agent_id)
        return self if seat is None else replace(self, agent_id=agent_id, **seat._asdict())

    def legal_words(self, decision: Decision) -> dict[str, int]:
        """The legal actions of ``decision`` by their words.

        Returns:
            Action by word, in the order of the actions; empty where actions have no words. Words that
            depend on the position (``"e2e4"``) are there where the worker wants ``text`` or ``facts``.
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
    """Briefing and teams of a slot in one agent's place; the fields are those of :class:`Slot`."""

    briefing: str = ""
    team: str = ""
    teammates: Sequence[str] = ()
    opponents: Sequence[str] = ()


def _no_settings() -> dict[str, Any]:
    return {}


class EpisodeStart(NamedTuple):
    """An episode begins for a slot.

    Attributes:
        episode: Episode number; decisions refer to it.
        seed: 64-bit policy seed of (episode, agent). All randomness derives from it.
        agent_id: The agent that the slot plays in this episode: its own, unless seats are
            swapped. A policy that cares which side it is on goes by this.
        tokens: What the run's budgets leave to the slot in this episode; 0 for no limit. A worker that
            pays for its decisions raises :class:`LimitReached` before it would pass it.
        usd: The same in US dollars.
        joins: Of an agent that has appeared: the run's episode that it takes part in. ``episode`` is of it
            alone then; ``tokens`` and ``usd`` are for all agents that the slot plays in that of the run.
        seat: Briefing and teams of such an agent, for workers that want ``text`` or ``image``.
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
        """The run's episode, which records of calls name."""
        return self.episode if self.joins is None else self.joins


class EpisodeEnd(NamedTuple):
    """An episode is over for a slot.

    Attributes:
        episode: Episode number.
        total_reward: This agent's return.
        steps: Environment steps.
        status: ``completed``, ``failed`` or ``aborted``.
    """

    episode: int
    total_reward: float
    steps: int
    status: str


class Decision(NamedTuple):
    """One decision of a batch, for workers that think one at a time.

    Attributes:
        id: Answers name it.
        episode: Its episode.
        step: Environment step.
        seed: Policy seed of the episode.
        observation: What the slot sees.
        action_mask: bool (n_actions,), or ``None`` where every action is legal.
        attempt: 0 for a first ask, k for the k-th retry.
        reason: Why the attempt before was refused.
        text: The observation in words, where the worker wants ``text``.
        image: (bytes, MIME type) of a picture, where it wants ``image``.
        messages: What team-mates have said since the last decision.
        choices: (action, word) of the legal actions, where words depend on the position.
        facts: The observation as ground facts, ``"door(yellow, locked, 2, -1)"``, where it wants ``facts``.
        state: The simulator's whole state, float64, where it wants ``state``.
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
        """Indices of legal actions, or ``None`` where all are."""
        return None if self.action_mask is None else np.flatnonzero(self.action_mask).tolist()


@dataclass(frozen=True)
class Batch:
    """Decisions of one slot, from any number of episodes, stacked.

    Attributes:
        slot: The slot they are for.
        ids: Decision ids, length N.
        episodes: Episode of each, length N.
        steps: Environment step of each, length N.
        seeds: Policy seed of each, uint64 (N,).
        observations: Stacked by the space: ``(N, *shape)`` for a Box, a dict of stacked
            values for a Dict, a list where values have no common shape.
        action_masks: bool (N, n_actions), or ``None`` where every action is legal.
        attempts: 0 for a first ask, k for the k-th retry; length N.
        reasons: Why the attempt before was refused; length N, or empty when none was.
        texts: The observation in words, for workers whose ``inputs`` name ``text``.
        images: (bytes, MIME type) of each, for workers whose ``inputs`` name ``image``.
        messages: What teammates said, for workers whose ``inputs`` name ``messages``.
        choices: (action, word) of each one's legal actions, where words depend on the position.
        facts: The observation as ground facts, for workers whose ``inputs`` name ``facts``.
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
        """The batch that holds the ``i``-th decision alone."""
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
    """Put in place of an action: there was an answer, but it cannot be played.

    Attributes:
        reason: What was wrong, in a sentence; the engine may ask again with it.
        raw: The raw reply, for the record.
        cause: Of what kind it is, for reports: ``unreadable``, ``illegal``, ``time_out``, ``model_error``.
    """

    reason: str
    raw: str = ""
    cause: str = ""


@dataclass(frozen=True)
class Actions:
    """What :meth:`Worker.select_actions` may return when it has more than actions to say.

    Attributes:
        actions: One action (or :class:`Invalid`) per decision of the batch, in its order.
        values: State values, float (N,), recorded beside the action; optional.
        extras: A mapping per decision recorded in its row (``tokens``, ``call_ref``, ``scores``), of
            unusable answers too; optional.
    """

    actions: Any
    values: Any = None
    extras: Sequence[Mapping[str, Any] | None] | None = None


class StepResults(NamedTuple):
    """What became of earlier decisions of one slot; sent only to workers that define
    :meth:`Worker.on_step_result`. All sequences have length N.

    Rewards are NaN for a slot that reads where they would say what its seat may not know."""

    slot: Slot
    episodes: Sequence[int]
    steps: Sequence[int]
    observations: Any
    actions: Any
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


class Host(Protocol):
    """What a worker can ask of its host; available as ``worker.host`` once connected."""

    def ask_human(self, batch: Batch) -> List[Any]:
        """Let the person at the host choose.

        Args:
            batch: Decisions to be made.

        Returns:
            One action per decision, ``None`` where the person did not act in time.
        """
        ...

    def record_call(self, call: Mapping[str, Any]) -> None:
        """Have a paid call written to the run folder at once."""
        ...

    def announce(self, slot: Slot, episode: int, tokens: int, usd: float) -> Future[None]:
        """Say that a request which may have to be paid for is about to be sent.

        For coroutines of an :class:`~mosaic_worker.concurrent.AsyncWorker`, in episodes whose start has
        ``tokens`` or ``usd``; send the request when the future is done. The record of the call says in
        ``announced`` how many requests were announced for it, sent or not, each with the amounts in its
        ``most``.

        Args:
            slot: Whose request it is.
            episode: The run's (``EpisodeStart.run_episode``).
            tokens: What it takes at most, in and out together.
            usd: The same in US dollars; 0 where the price is not known.

        Returns:
            Done once the announcement is on record; at once where the host keeps none.
        """
        ...


class BatchDecider(Protocol):
    """Decides in a thread of its own what a worker is asked, and replies when it has decided."""

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        """Episodes begin."""

    def end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        """Episodes are over."""

    def results(self, results: StepResults) -> None:
        """What earlier actions led to."""

    def ask(self, batch: Batch) -> None:
        """Decide each of a batch."""

    def close(self) -> None:
        """Give up what is being decided."""


class Worker:
    """Base class of workers. Override what you need; only :meth:`select_actions` is required.

    One object lives in one process. It may fill several slots (a link group loads its
    file once); by default each slot has a process of its own. Calls come one at a time,
    in order, from the main thread.

    Attributes:
        host: What can be asked of the host; set before :meth:`load`.
        inputs: More that every decision needs: ``"text"``, ``"image"``, ``"messages"``.
        in_flight: How many decisions it works on at once (a worker that waits for a server);
            0: it takes a batch at a time.
        announces: Whether it announces every paid request (:meth:`Host.announce`).
    """

    host: Host
    inputs: Sequence[str] = ()
    in_flight: int = 0
    announces: bool = False

    def connect(self, link: WorkerLink) -> WorkerLink:
        """Stand between the runtime and the host: what is returned is used from now on.

        Called once, before the worker says ``Welcome``. For tools that test hosts; a
        worker that plays has no use for it.
        """
        return link

    def decider(self, reply: Callable[[Batch, Any], None]) -> BatchDecider | None:
        """What decides in place of :meth:`select_actions`; an :class:`~mosaic_worker.AsyncWorker` has one.

        Args:
            reply: Sends the result of a batch of one.
        """
        return None

    def load(self, slot: Slot) -> str | None:
        """Get ready to play ``slot``: read the checkpoint, check that the spaces fit.

        Returns:
            A short name of the policy for the record (for example ``"ppo:cartpole"``), or ``None``.

        Raises:
            LoadError: With a sentence for the person, when the slot cannot be played.
        """
        return None

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        """Episodes begin. State kept per episode is keyed by ``start.episode``."""

    def select_actions(self, batch: Batch) -> Any:
        """Decide.

        Returns:
            One action per decision, in order: a stacked array, a list, or :class:`Actions`.
            An element may be :class:`Invalid`. The answer to a decision must not depend on
            which other decisions happen to be in the batch.
        """
        raise NotImplementedError

    def select_together(self, batches: Sequence[Batch]) -> Sequence[Any]:
        """Decide for several slots at once; to be overridden where that costs less than one after another.

        Called with what has arrived by then, one batch of a slot at most. Should it raise, each slot is
        decided by itself: nothing may be remembered before all is decided.

        Returns:
            For each batch what :meth:`select_actions` returns, and the same as that would.
        """
        return [self.select_actions(batch) for batch in batches]

    def on_step_result(self, results: StepResults) -> None:
        """Learn what the actions led to. Defining it makes the host send results."""

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        """Episodes are over; forget their state."""

    def close(self) -> None:
        """The process is about to end."""


class PolicyFailed(Exception):
    """The policy cannot go on, and its episode fails; the message is a sentence for a person.

    Anything else that a worker raises fails the episode as well, as a fault of its program: with the
    exception's name, and a traceback in the log.
    """


class LimitReached(PolicyFailed):
    """The policy would need more than it may have: tokens, money, time. The message has the figures.

    Attributes:
        own: Whether it is a limit of each episode: then the episode ends here, truncated, and counts as far
            as it went. Otherwise it is a budget that episodes share: this one is left unplayed, and played
            when there is more.
    """

    own = True


class CannotGoOn(PolicyFailed):
    """No decision of this policy will succeed, in any episode, until a person does something: a server is
    down. The run stops and can be resumed; the episode is left unplayed. The message is a sentence."""


class LoadError(Exception):
    """A slot cannot be played; the message is shown to the person as it is."""
