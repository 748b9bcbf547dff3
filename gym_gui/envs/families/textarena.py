"""TextArena: text games for one or several players."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from gym_gui.core.enums import Outcome
from gym_gui.core.errors import UsageError
from gym_gui.envs import index
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.family import team_returns
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.instance import Instance
    from gym_gui.envs.remote_env import InstanceRequest

_HEAD = "textarena/"
_TRAINING = "-train"
_MANY = 15
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[A-Z][a-z])")


class _Game(NamedTuple):
    """Facts about a game that the package's registry does not state.

    Attributes:
        summary: One sentence about the game.
        seats: Number of players, unless ``env_kwargs`` has ``players``.
        most: Largest number of players; 0 for ``seats``.
        least: Smallest number of players; 0 for ``seats``.
        open: Whether all players see everything.
        halves: Whether the first half of the players plays against the second.
    """

    summary: str
    seats: int = 1
    most: int = 0
    least: int = 0
    open: bool = False
    halves: bool = False


_GAMES: Mapping[str, _Game] = {
    "Game2048": _Game("Slide numbered tiles until one has the value that is wanted."),
    "Bandit": _Game("Press buttons that pay by chance, and say which pays best."),
    "Blackjack": _Game("Draw cards up to 21 against a dealer, for several hands."),
    "Countdown": _Game("Reach a number by arithmetic with given ones."),
    "Crosswords": _Game("Fill a crossword letter by letter from its clues."),
    "Cryptarithm": _Game("Find the digits behind letters so that a sum is right."),
    "FifteenPuzzle": _Game("Put tiles in order by moving the gap among them."),
    "FrozenLake": _Game("Cross the ice to the goal without falling into a hole."),
    "GuessTheNumber": _Game("Find a number from being told higher or lower."),
    "Hangman": _Game("Guess a word letter by letter."),
    "LightsOut": _Game("Switch all lights off; each switch turns its neighbours too."),
    "LogicPuzzle": _Game("Fill a grid of who has what from clues."),
    "Mastermind": _Game("Find a code from how many of its numbers were right."),
    "Minesweeper": _Game("Uncover a field without touching its mines."),
    "PegJump": _Game("Jump over pegs until one is left."),
    "RushHour": _Game("Move cars out of the way so that one can leave."),
    "Secretary": _Game("Choose the best of numbers that are shown one by one and do not come back."),
    "Set": _Game("Find three cards that are all alike or all different in each respect."),
    "Klondike": _Game("Patience with seven piles and four foundations."),
    "Slitherlink": _Game("Draw one loop that passes as many sides of a cell as its number says."),
    "Sokoban": _Game("Push boxes onto their places."),
    "Sudoku": _Game("Fill in digits; none twice in a row, column or box."),
    "ThreeCardMonte": _Game("Follow the ball under cups that change places."),
    "TowerOfHanoi": _Game("Move a tower of disks, never a larger one onto a smaller one."),
    "WordLadder": _Game("Turn one word into another by one letter at a time."),
    "Wordle": _Game("Find a word from which letters of each guess were right."),
    "WordSearch": _Game("Find words in a square of letters."),
    "Alquerque": _Game("Capture by jumping on a board of five by five points.", 2, open=True),
    "Battleship": _Game("Find and sink the other's ships.", 2),
    "Breakthrough": _Game("Bring a piece to the other side.", 2, open=True),
    "Briscola": _Game("Win tricks with the cards that count most.", 2, 4),
    "Checkers": _Game("Capture all pieces of the other by jumping.", 2, open=True),
    "Chess": _Game("Mate the other's king.", 2, open=True),
    "Chopsticks": _Game("Tap the other's hands until both are out.", 2, open=True),
    "ColonelBlotto": _Game("Share units out among fields; who has more of them wins a field.", 2),
    "ConnectFour": _Game("Drop discs into columns; four in a row win.", 2, open=True),
    "Crusade": _Game("Knights on a board take what they land on.", 2, open=True),
    "DontSayIt": _Game("Bring the other to say a word without saying yours.", 2),
    "GameOfPureStrategy": _Game("Bid with your cards for prizes; each card once.", 2),
    "GermanWhist": _Game("Win tricks, the first half of them for better cards.", 2),
    "Golf": _Game("Exchange cards face down so that yours count little.", 2, 4),
    "HighSociety": _Game("Bid money for prizes without becoming the poorest.", 2),
    "IndianPoker": _Game("Poker in which you see only the other's card.", 2),
    "IteratedMatchingPennies": _Game("One wants coins that match, the other ones that do not.", 2),
    "IteratedPrisonersDilemma": _Game("Talk, then cooperate or defect, again and again.", 2),
    "IteratedRockPaperScissors": _Game("Rock, paper, scissors, again and again.", 2),
    "IteratedTwoThirdsAverage": _Game("Guess two thirds of what both guess on average.", 2),
    "IteratedStagHunt": _Game("Talk, then hunt a stag together or a hare alone.", 2),
    "IteratedUltimatumGame": _Game("One offers a share, the other takes it or leaves both with nothing.", 2),
    "KuhnPoker": _Game("Bet or pass with one of three cards, for several rounds.", 2),
    "LinesOfAction": _Game("Connect all your pieces.", 2, open=True),
    "LetterAuction": _Game("Buy letters and spell the most valuable word with them.", 2),
    "MemoryGame": _Game("Turn up pairs of cards.", 2),
    "Nim": _Game("Take from piles; who takes the last one wins.", 2, open=True),
    "Othello": _Game("Turn the other's discs over; who has more of them at the end wins.", 2, open=True),
    "PigDice": _Game("Roll on for more points, or keep them before a 1 takes them.", 2, open=True),
    "QuantumTicTacToe": _Game("Tic-tac-toe with marks in two places at once.", 2, open=True),
    "ReverseTicTacToe": _Game("Who gets three marks in a row loses.", 2, open=True),
    "SimpleBlindAuction": _Game("Talk, then bid in secret for things that are worth another sum to each.", 2),
    "SimpleNegotiation": _Game("Trade things that are worth another sum to each.", 2),
    "SimpleTak": _Game("Connect opposite edges with stones.", 2, open=True),
    "SpellingBee": _Game("Write words of given letters, each at least as long as the one before.", 2),
    "SpiteAndMalice": _Game("Get rid of a pile of cards by counting up from ace to queen.", 2),
    "Stratego": _Game("Find the other's flag with pieces whose rank is hidden.", 2),
    "Tak": _Game("Connect opposite edges with stones that may stand and be stacked.", 2, open=True),
    "TicTacToe": _Game("Three marks in a row win.", 2, open=True),
    "TruthAndDeception": _Game("One wants the other to believe the wrong one of two facts.", 2),
    "TwoDollar": _Game("Agree on how two dollars are shared, each with an aim that is secret.", 2),
    "UltimateTicTacToe": _Game("Tic-tac-toe whose squares are boards.", 2, open=True),
    "UltimateTexasHoldem": _Game("Poker against the house.", 1),
    "WildTicTacToe": _Game("Three equal marks in a row win; each move may be an X or an O.", 2, open=True),
    "WordChains": _Game("Write words that begin as the one before ended, each longer by one.", 2),
    "NewRecruit": _Game("A recruit and a recruiter agree on a contract.", 2),
    "Snake": _Game("Snakes that all move at once eat apples and keep out of each other's way.", 2, _MANY),
    "Surround": _Game("Leave a trail, and do not run into any.", 2, _MANY),
    "Taboo": _Game(
        "Have your team guess a word without the words that describe it best.", 4, _MANY, halves=True
    ),
    "LiarsDice": _Game("Bid on all dice though you see your own alone, or call the bid a lie.", 2, _MANY),
    "Poker": _Game("Texas hold'em.", 3, _MANY, 2),
    "PublicGoodsGame": _Game("Talk, then give to a pot that is multiplied and shared.", 3, _MANY, 2),
    "MarketEntryGame": _Game("Talk, then enter a market that pays only a few.", 4, _MANY, 2),
    "ThreePlayerTicTacToe": _Game("Four marks in a row on a larger board, for three.", 3, open=True),
    "ThreePlayerGOPS": _Game("Bid with your cards for prizes, for three.", 3),
    "ThreePlayerIPD": _Game("Talk, then cooperate or defect with each of two others.", 3),
    "Codenames": _Game("Lead your team to its words by hints of one word.", 4, halves=True),
    "SettlersOfCatan": _Game("Settle an island: build and trade for ten points.", 4),
    "SecretMafia": _Game("A village talks and votes; some of it kill by night.", 6, _MANY),
    "Santorini": _Game("Build towers and climb them.", 2, 3, open=True),
}
"""Facts about each game, by the name of its folder in the package."""


class TextArenaFamily(OwnPythonFamily):
    """Family of TextArena's games, under ids such as ``textarena/KuhnPoker-v0``.

    Training variants are found by their id and are not listed.
    """

    name: ClassVar[str] = "textarena"
    title: ClassVar[str] = "TextArena"
    prefixes: ClassVar[tuple[str, ...]] = (_HEAD,)
    closed: ClassVar[bool] = True
    requirements: ClassVar[tuple[str, ...]] = ("textarena==0.7.4",)
    imports: ClassVar[tuple[str, ...]] = ("textarena",)
    # Some games iterate over sets of words, whose order depends on the hash seed.
    server_variables: ClassVar[Mapping[str, str]] = {"PYTHONHASHSEED": "0"}
    documented: ClassVar[bool] = False
    web_page: ClassVar[str] = "https://github.com/LeonGuertler/TextArena"
    modes: ClassVar[tuple[str, ...] | None] = ("ansi",)

    def specs(self) -> Sequence[EnvSpec]:
        return [spec for spec in self.findable() if not spec.id.endswith(_TRAINING)]

    def findable(self) -> Sequence[EnvSpec]:
        self.require()
        return [
            self.spec(
                _HEAD + row["id"],
                "mosaic_env_server.shims.textarena:make",
                apis=("gymnasium" if _GAMES[row["game"]].seats == 1 else "aec",),
                traits={"game": row["game"]},
            )
            for row in index.entries("textarena", "textarena", str(self.interpreter))
            if row["game"] in _GAMES and row["readable"]
        ]

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        """Return the request to the server, with the number of players and their teams.

        Raises:
            UsageError: The game does not allow this number of players.
        """
        game, given = _game(spec), dict(arguments)
        seats = given.pop("players", game.seats)
        least, most = game.least or game.seats, game.most or game.seats
        step = 2 if game.halves else 1
        if isinstance(seats, bool) or seats not in range(least, most + 1, step):
            many = (
                f"{least}"
                if least == most
                else f"{'an even number of ' if step > 1 else ''}{least} to {most}"
            )
            raise UsageError(f"players of {spec.id} is {seats!r}", fix=f"The number of players is {many}")
        named = [f"player_{i}" for i in range(seats)]
        teams = [named[: seats // 2], named[seats // 2 :]] if game.halves else []
        return super().wanted(
            spec, {"game": spec.id.removeprefix(_HEAD), "seats": seats, "teams": teams, **given}
        )

    def hidden_information(self, spec: EnvSpec) -> bool:
        return spec.api != "gymnasium" and not (_game(spec).open and "blind" not in spec.id)

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Return each team's outcome: all with the highest return win; if all returns are equal, a draw."""
        paid = team_returns(environment.teams, returns)
        if len(paid) < 2 or not environment.adapter.is_episode_done():
            return None
        best = max(paid.values())
        if all(each == best for each in paid.values()):
            return dict.fromkeys(paid, Outcome.DRAW)
        return {team: Outcome.WIN if each == best else Outcome.LOSS for team, each in paid.items()}

    def title_of(self, spec: EnvSpec) -> str:
        name, _, variant = spec.id.removeprefix(_HEAD).partition("-v0")
        plain = _HUMP.sub(" ", name)
        return f"{plain}, {variant.strip('-').replace('-', ' ')}" if variant else plain

    def summary(self, spec: EnvSpec) -> str:
        return _game(spec).summary


def _game(spec: EnvSpec) -> _Game:
    return _GAMES[spec.traits["game"]]
