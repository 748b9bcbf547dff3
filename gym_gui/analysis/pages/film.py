"""An episode played again, ready to be shown on a page: small pictures, boards or text, and what was done."""

from __future__ import annotations

from msgspec import Struct


class Patch(Struct, frozen=True, array_like=True):
    """A picture that is laid over what is shown already.

    Attributes:
        picture: Its number among the film's pictures.
        x: From the left, in pixels.
        y: From the top.
        whole: Whether it covers everything, so that nothing before it matters.
    """

    picture: int
    x: int
    y: int
    whole: bool


class Act(Struct, frozen=True, array_like=True):
    """What an agent has done last.

    Attributes:
        agent: Its number among the film's agents.
        word: The number of its action among the film's words.
        reward: What the step brought it.
        total: Its return so far.
        source: The number of who chose it among the film's words; -1: its own policy.
    """

    agent: int
    word: int
    reward: float
    total: float
    source: int


class FilmFrame(Struct, frozen=True, array_like=True):
    """One look.

    Attributes:
        step: Environment steps taken.
        patches: What is drawn over the look before.
        acts: What the agents did last, of those who acted since the look before.
        board: The number of the board's cells among the film's words, -1 where there is no board.
        last: Squares of the last move, as numbers from the top left.
        text: The number of the environment's own text among the film's words, or -1.
        scores: By team, in the order of the film's teams.
    """

    step: int
    patches: tuple[Patch, ...] = ()
    acts: tuple[Act, ...] = ()
    board: int = -1
    last: tuple[int, ...] = ()
    text: int = -1
    scores: tuple[float, ...] = ()


class Film(Struct, frozen=True):
    """A replay that a page can play.

    Attributes:
        run_id: The run.
        operator_id: The operator there.
        episode_index: The episode.
        width: Of the pictures, in pixels; 0 where there are none.
        height: Likewise.
        pictures: WebP in base64, each of which may be shown several times.
        frames: In order; the first is the state after reset.
        agents: By their numbers.
        words: Actions, sources, boards and texts by their numbers.
        teams: Whose scores are kept.
        board: Kind, rows and columns of the board; no kind where there is none.
        every: Every how many-th position of the record is a frame.
        departs: How what was played differs from the record; empty where it does not.
        missing: Why there is nothing to be played; empty where there is.
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
        """Which episode it is."""
        return self.run_id, self.operator_id, self.episode_index
