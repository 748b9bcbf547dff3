"""Sends views of one running episode to a listener: rewards, actions, board and picture."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import orjson

from gym_gui.analysis.transcripts.decision_rows import DECISION, TOLD, is_own_turn
from gym_gui.controllers.engine.episode import Episode
from gym_gui.controllers.engine.episode_rows import Row
from gym_gui.controllers.engine.seat_view import SeatView
from gym_gui.controllers.engine.session_events import FrameDrawn, LogLine, OnSessionEvent, Thought
from gym_gui.controllers.engine.session_interface import LiveSettings
from gym_gui.controllers.engine.step_gate import StepGate
from gym_gui.core.enums import EpisodeStatus, WorkerKind
from gym_gui.core.experiment.slot_patterns import is_pattern
from gym_gui.core.live import AgentView, LiveView, PlayedMove, Pointing
from gym_gui.core.plain_data import to_plain
from gym_gui.core.types import PLAN_POINTS, REFUSED, WORD, AgentID, Plan
from gym_gui.envs import Environment
from gym_gui.services.backends import SlotInfo

_T = TypeVar("_T")
_TEXT = 80
"""Largest number of characters in the text of an action."""
_DIGITS = 3


class Spectator:
    """Sends views of the first episode in flight to a listener.

    The spectator reads and renders between steps without a change to the episode. While the session is
    paused or slow, every step is shown; otherwise as many steps as :attr:`LiveSettings.fps` allows. Rendering
    takes at most half of the time. The end of the shown episode is always reported.

    Args:
        settings: Frequency and content of the views.
        mode: Render mode of the environments: ``"rgb_array"``, ``"ansi"`` or ``None``.
        slots: Spaces and action names of every agent.
        on_event: Receives the views and pictures.
        seat_view: Limits the display of hidden information to the seats of people who play.
        is_drawn: Returns whether an environment can be rendered, if not all of them can. Episodes in these
            environments are shown before others.
    """

    def __init__(
        self,
        settings: LiveSettings,
        mode: str | None,
        slots: Mapping[AgentID, SlotInfo],
        on_event: OnSessionEvent,
        seat_view: SeatView,
        is_drawn: Callable[[Environment], bool] = lambda _environment: True,
    ) -> None:
        self._seat_view, self._is_drawn = seat_view, is_drawn
        self._settings, self._mode, self._slots, self._on_event = settings, mode, slots, on_event
        self._interval = 1.0 / settings.fps
        self._every = False
        self._live: dict[int, Episode] = {}
        self._shown: Episode | None = None
        self._stale = False
        self._done_ns = 0
        self._next = self._next_end = 0.0
        self._number = 0
        self._timer: asyncio.TimerHandle | None = None
        self._told: set[str] = set()
        self._thoughts: dict[AgentID, int] = {}

    # -- called by the engine ----------------------------------------------------------------

    def on_pace(self, gate: StepGate) -> None:
        """Adapt the frequency of views to a session that was paused, resumed, or given a pace."""
        self._every = gate.is_slower_than(self._settings.fps)
        if self._every and self._stale:
            self._look()

    def opened(self, episode: Episode) -> None:
        """Add an episode that was reset, and show it if it ranks before the shown episode."""
        self._live[episode.index] = episode
        if self._shown is None or self._rank(episode) < self._rank(self._shown):
            self._show(episode)

    def stepped(self, episode: Episode) -> None:
        """Show a step of the shown episode, if a view is due."""
        if episode is self._shown:
            self._done_ns = time.monotonic_ns()
            self._tell_thoughts(episode)
            self._look_when_due()

    def look_again(self) -> None:
        """Send a new view now, for example because a slot has another player or a clock was held."""
        if self._shown is not None:
            self._done_ns = time.monotonic_ns()
            self._look()

    def preview(self, episode: Episode) -> None:
        """Show the first state of an episode that is not in flight yet."""
        self._shown, self._done_ns = episode, time.monotonic_ns()
        self._look()
        self._shown = None

    def over(self, episode: Episode, status: EpisodeStatus, error: str) -> None:
        """Show the end of an episode before its environment is released, then show the next episode."""
        self._live.pop(episode.index, None)
        if episode is not self._shown:
            return
        self._tell_thoughts(episode)
        self._done_ns = time.monotonic_ns()
        now = time.monotonic()
        # If episodes end more often than pictures may be sent, the end is reported without a picture.
        drawn = self._every or now >= self._next_end
        if drawn:
            self._next_end = now + self._interval
        self._look(status.value, error, drawn=drawn)
        self._shown = None
        if self._live:
            self._show(min(self._live.values(), key=self._rank))

    def keeps(self, episode: Episode, agent: AgentID) -> bool:
        """Return whether an agent's view is hidden from the people who play and watch."""
        seen_from = self._seat_view.looking(episode)
        return bool(seen_from) and agent not in seen_from

    def close(self) -> None:
        """Stop showing episodes."""
        self._live.clear()
        self._shown = None
        self._cancel()

    # -- thoughts --------------------------------------------------------------------------

    def _tell_thoughts(self, episode: Episode) -> None:
        """Send the policies' reports on the agents' latest decisions, if people may see the reports."""
        for agent, slot in episode.seats.items():
            row = episode.trajectory.latest(agent)
            if row is None or not row.extras or row.extras.keys().isdisjoint(TOLD):
                continue
            if self._thoughts.get(agent, -1) >= row.step:
                continue
            self._thoughts[agent] = row.step
            seen_from = self._seat_view.looking(episode)
            if not seen_from or agent in seen_from:  # thoughts of other agents would reveal their cards
                said = _notation(episode).get(agent, "")
                told = self._decision(episode.index, slot, agent, row, said)
                if is_own_turn(told):
                    self._on_event(Thought(orjson.dumps(told)))

    def _decision(self, index: int, slot: AgentID, agent: AgentID, row: Row, said: str) -> dict[str, Any]:
        extras, action = row.extras or {}, to_plain(row.action)
        told = {
            name: to_plain(extras[name]) for name in (*TOLD, "said", "call_ref", REFUSED) if name in extras
        }
        info = self._slots.get(agent) or self._slots[slot]
        discrete = info.action_codec.space.kind == "Discrete"
        return {
            "kind": DECISION,
            "agent_id": agent if is_pattern(slot) else slot,
            "episode_index": index,
            "step_index": row.step,
            "action": action,
            WORD: said or (_word(info, action - info.action_codec.space.start, action) if discrete else ""),
            "action_source": row.source,
            "latency_ms": row.latency_ms,
            **told,
        }

    def _rank(self, episode: Episode) -> tuple[bool, int]:
        return not self._is_drawn(episode.environment), episode.index

    # -- looking ---------------------------------------------------------------------------

    def _show(self, episode: Episode) -> None:
        self._shown = episode
        self._thoughts.clear()
        self._done_ns = time.monotonic_ns()
        self._look_when_due()

    def _look_when_due(self) -> None:
        if self._every or time.monotonic() >= self._next:
            self._look()
            return
        self._stale = True
        if self._timer is None:
            delay = self._next - time.monotonic()
            self._timer = asyncio.get_running_loop().call_later(delay, self._on_due)

    def _on_due(self) -> None:
        """Send a view of the latest step when the view is due."""
        self._timer = None
        if self._stale and self._shown is not None:
            self._look()

    def _cancel(self) -> None:
        self._stale = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self, over: str = "", error: str = "", *, drawn: bool = True) -> None:
        episode = self._shown
        assert episode is not None
        self._cancel()
        began = time.monotonic()
        # Hidden information is shown once the game is over.
        seen_from = () if over else self._seat_view.looking(episode)
        number = self._draw(episode, seen_from) if drawn else 0
        self._on_event(self._view(episode, over, error, number, drawn, seen_from))
        now = time.monotonic()
        self._next = max(began + self._interval, now + (now - began))

    def _draw(self, episode: Episode, seen_from: tuple[AgentID, ...]) -> int:
        """Send a picture of the episode and return the picture's number; 0 if there is no picture."""
        if self._mode != "rgb_array" or not self._is_drawn(episode.environment):
            return 0
        if not seen_from:
            picture = episode.environment.picture(_plans(episode))
        else:
            picture = self._tried(
                "draw what a seat sees", lambda: self._seat_view.picture(episode, seen_from)
            )
        if picture is None:
            return 0
        self._number += 1
        self._on_event(FrameDrawn(picture, self._number))
        return self._number

    def _view(
        self,
        episode: Episode,
        over: str,
        error: str,
        number: int,
        drawn: bool,
        seen_from: tuple[AgentID, ...],
    ) -> LiveView:
        environment, won = episode.environment, None
        if over == EpisodeStatus.COMPLETED:
            won = self._tried("tell who won", episode.outcome)
        moves = _moves(episode)
        said = _notation(episode, moves)
        return LiveView(
            episode=episode.index,
            seed=episode.plan.seed,
            step=episode.steps,
            agents=tuple(
                self._agent(episode, agent, slot, seen_from, said.get(agent, ""), over)
                for agent, slot in episode.seats.items()
            ),
            turn=() if over else tuple(episode.asked),
            over=over,
            error=error,
            scores=self._tried("tell the score", lambda: environment.scores(episode.trajectory.returns)),
            outcome=won,
            board=environment.board(),
            text=self._text(episode, number, seen_from) if drawn else "",
            frame=number,
            sent_ns=self._done_ns,
            kept_from=self._seat_view.kept_from(episode),
            seen_from=seen_from,
            pointing=None if over else self._pointing(episode, seen_from),
            result=self._tried("tell how it ended", lambda: episode.result(won)) or "",
            moves=moves,
        )

    def _pointing(self, episode: Episode, seen_from: tuple[AgentID, ...]) -> Pointing | None:
        """Return the clickable choices of an asked person in the picture of the game or the person's seat."""
        asked = (d.agent_id for d in episode.asked.values() if _is_person(episode, d.slot))
        agent = next(asked, None)  # of several people the first, whose question a click answers
        if agent is None:
            return None
        point = partial(self._seat_view.pointing, episode) if seen_from else episode.environment.pointing
        return self._tried("tell what can be pointed at", partial(point, agent))

    def _text(self, episode: Episode, number: int, seen_from: tuple[AgentID, ...]) -> str:
        """Return the environment's own text or, in a seat's view without picture, the seat's observation."""
        if not seen_from:
            drawn = self._mode == "ansi" and self._is_drawn(episode.environment)
            return episode.environment.ansi() if drawn else ""
        return "" if number or self._mode is None else self._seat_view.text(episode, seen_from)

    def _agent(
        self,
        episode: Episode,
        agent: AgentID,
        slot: AgentID,
        seen_from: tuple[AgentID, ...],
        said: str,
        over: str,
    ) -> AgentView:
        total, unusable = episode.trajectory.returns.get(agent, 0.0), episode.unusable.get(agent, 0)
        row = episode.trajectory.latest(agent)
        others = bool(seen_from) and agent not in seen_from
        name, used = episode.environment.seat_names.get(agent, ""), episode.trajectory.used_ms.get(agent, 0.0)
        left, runs = _on_clock(episode, agent)
        if row is None or (others and _is_secret(episode, row, seen_from)):
            return AgentView(
                agent,
                slot,
                total=total,
                unusable=unusable,
                name=name,
                used_ms=used,
                left_ms=left,
                clock_runs=runs,
            )
        info = self._slots.get(agent) or self._slots[slot]
        extras: dict[str, Any] = dict(row.extras or ())
        space, action = info.action_codec.space, row.action
        number = int(action) if space.kind == "Discrete" else None
        # An estimate reveals the player's cards, and is advice to a person who plays against that player.
        secret = others or (not over and self._seat_view.hides_estimates_of(slot))
        value = None if secret else extras.get("value")
        return AgentView(
            agent=agent,
            slot=slot,
            action=said
            or (_action_text(action) if number is None else _word(info, number - space.start, number)),
            number=number,
            source=str(row.source),
            reward=row.reward,
            total=total,
            value=None if value is None else float(value),
            option="" if "option_arguments" in extras else str(extras.get("option", "")),
            latency_ms=row.latency_ms,
            unusable=unusable,
            by=episode.chosen_by_another(agent),
            option_since=extras.get("option_since"),
            refused=str(extras.get(REFUSED, "")),
            name=name,
            used_ms=used,
            left_ms=left,
            clock_runs=runs,
        )

    def _tried(self, deed: str, ask: Callable[[], _T]) -> _T | None:
        """Return the result of ``ask``; if the environment raises, log the error once and return ``None``."""
        try:
            return ask()
        except Exception as exc:  # the border to foreign code; the watched episode goes on
            if deed not in self._told:
                self._told.add(deed)
                text = f"the environment could not {deed}: {exc}. It plays on"
                self._on_event(LogLine(logging.WARNING, "mosaic.live", text))
            return None


def _moves(episode: Episode) -> tuple[PlayedMove, ...]:
    """Return all moves of an episode in the game's own notation."""
    environment = episode.environment
    played = episode.trajectory.played if environment.notates else ()
    words = environment.notation(played)
    return tuple(PlayedMove(agent, word) for (agent, _), word in zip(played, words, strict=False))


def _notation(episode: Episode, moves: tuple[PlayedMove, ...] | None = None) -> dict[AgentID, str]:
    """Return each agent's last move in the game's own notation."""
    return {move.agent: move.word for move in (_moves(episode) if moves is None else moves)}


def _on_clock(episode: Episode, agent: AgentID) -> tuple[float | None, bool]:
    """Return the milliseconds that an agent has left and whether its clock runs.

    Before the episode's clocks are made, an agent has its full time. Without a time control, return ``None``.
    """
    control, game_clock = episode.plan.time_control, episode.game_clock
    if control is None:
        return None, False
    if game_clock is None:
        return 1000 * control.seconds, False
    return 1000 * game_clock.left_s(agent), game_clock.runs(agent)


def _is_person(episode: Episode, slot: AgentID) -> bool:
    player = episode.players.get(slot)
    return player is not None and player.worker_type == WorkerKind.HUMAN


def _is_secret(episode: Episode, row: Row, seen_from: tuple[AgentID, ...]) -> bool:
    """Return whether an action belongs to a round in which the seats of ``seen_from`` have not chosen yet."""
    own = [latest.step for agent in seen_from if (latest := episode.trajectory.latest(agent)) is not None]
    return episode.environment.moves_at_once and row.step > max(own, default=-1)


def _word(info: SlotInfo, index: int, number: int) -> str:
    return info.action_meanings[index] if 0 <= index < len(info.action_meanings) else str(number)


def _action_text(action: Any) -> str:
    """Return short text for an action that has no name, with rounded numbers."""
    text = str(_rounded(to_plain(action)))
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, list):
        return [_rounded(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


def _plans(episode: Episode) -> list[Plan]:
    """Return the planned paths that players reported with their last decisions."""
    told = [row.extras for agent in episode.seats if (row := episode.trajectory.latest(agent)) is not None]
    return [extras[PLAN_POINTS] for extras in told if extras and PLAN_POINTS in extras]
