"""Data of a replayed episode for a page: small pictures, boards or text, and the agents' actions."""

from __future__ import annotations

from msgspec import Struct


class Patch(Struct, frozen=True, array_like=True):
    """Picture that is drawn over the current one.

    Attributes:
        picture: Number of the picture in the film's pictures.
        x: Distance from the left, in pixels.
        y: Distance from the top, in pixels.
        whole: Whether the picture covers everything, so that earlier pictures do not matter.
    """

    picture: int
    x: int
    y: int
    whole: bool


class Act(Struct, frozen=True, array_like=True):
    """Latest action of an agent.

    Attributes:
        agent: Number of the agent in the film's agents.
        word: Number of the action in the film's words.
        reward: Reward of the step for the agent.
        total: The agent's return so far.
        source: Number of the action's source in the film's words; -1 for the agent's own policy.
    """

    agent: int
    word: int
    reward: float
    total: float
    source: int


class FilmFrame(Struct, frozen=True, array_like=True):
    """Frame of a film: the state after some environment step.

    Attributes:
        step: Environment steps taken.
        patches: Pictures that are drawn over the frame before.
        acts: Latest actions of the agents that acted since the frame before.
        board: Number of the board's cells in the film's words, -1 without a board.
        last: Squares of the last move, as numbers from the top left.
        text: Number of the environment's own text in the film's words, or -1.
        scores: Scores of the teams, in the order of the film's teams.
    """

    step: int
    patches: tuple[Patch, ...] = ()
    acts: tuple[Act, ...] = ()
    board: int = -1
    last: tuple[int, ...] = ()
    text: int = -1
    scores: tuple[float, ...] = ()


class Film(Struct, frozen=True):
    """Replay that a page can play.

    Attributes:
        run_id: Id of the run.
        operator_id: Id of the operator in the run.
        episode_index: Index of the episode.
        width: Width of the pictures in pixels, 0 without pictures.
        height: Height of the pictures in pixels, 0 without pictures.
        pictures: Pictures as WebP in base64; a picture may be shown several times.
        frames: Frames in order; the first is the state after reset.
        agents: Names of the agents, to which numbers refer.
        words: Actions, sources, boards and texts, to which numbers refer.
        teams: Names of the teams that have scores.
        board: Kind, rows and columns of the board; an empty kind without a board.
        every: Every how many positions of the record there is a frame.
        departs: How the replay differs from the record; empty if it does not.
        missing: Reason why there is no replay; empty if there is one.
    """

    run_id: str
    operator_id: str
    episode_index: int
    width: int = 0
    height: int = 0
    pictures: tuple[str, ...] = ()
    frames: tuple[FilmFrame, ...] = ()
    agents: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    board: tuple[str, int, int] = ("", 0, 0)
    every: int = 1
    departs: str = ""
    missing: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """Key of the episode among films."""
        return self.run_id, self.operator_id, self.episode_index
