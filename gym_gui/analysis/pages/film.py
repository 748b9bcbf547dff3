"""Data classes of a film: a replay of an episode for a page, with images, boards or text, and actions."""

from __future__ import annotations

from msgspec import Struct


class Patch(Struct, frozen=True, array_like=True):
    """Image that is drawn over the previous frame, at a position.

    Attributes:
        picture: Index of the image in the film's ``pictures``.
        x: Distance from the left, in pixels.
        y: Distance from the top, in pixels.
        whole: Whether the image covers the whole frame.
    """

    picture: int
    x: int
    y: int
    whole: bool


class LatestAction(Struct, frozen=True, array_like=True):
    """Latest action of an agent.

    Attributes:
        agent: Index of the agent in the film's ``agents``.
        word: Index of the action's name in the film's ``words``.
        reward: Reward of the step for the agent.
        total: The agent's return so far.
        source: Index of the action's source in the film's ``words``; -1 for the agent's own policy.
    """

    agent: int
    word: int
    reward: float
    total: float
    source: int


class FilmFrame(Struct, frozen=True, array_like=True):
    """Frame of a film: the state after an environment step.

    Attributes:
        step: Number of environment steps so far.
        patches: Images that are drawn over the previous frame.
        acts: Latest action of each agent that acted since the previous frame.
        board: Index of the board's cells in the film's ``words``; -1 without a board.
        last: Squares of the last move, numbered from the top left.
        text: Index of the environment's text rendering in the film's ``words``; -1 without text.
        scores: Scores of the teams, in the order of the film's ``teams``.
    """

    step: int
    patches: tuple[Patch, ...] = ()
    acts: tuple[LatestAction, ...] = ()
    board: int = -1
    last: tuple[int, ...] = ()
    text: int = -1
    scores: tuple[float, ...] = ()


class Film(Struct, frozen=True):
    """Replay of one episode that a script in a page plays.

    Attributes:
        run_id: Id of the run.
        operator_id: Id of the operator in the run.
        episode_index: Index of the episode.
        width: Width of the images in pixels, 0 without images.
        height: Height of the images in pixels, 0 without images.
        pictures: Images as WebP in base64; an image may be used in several frames.
        frames: Frames in order; the first is the state after reset.
        agents: Names of the agents, to which indices refer.
        words: Names of actions and sources, boards and texts, to which indices refer.
        teams: Names of the teams that have scores.
        board: Kind, rows and columns of the board; an empty kind without a board.
        every: Number of recorded positions per frame; with 1, each position has a frame.
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
        """Run id, operator id and episode index."""
        return self.run_id, self.operator_id, self.episode_index
