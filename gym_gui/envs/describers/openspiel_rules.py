"""Rules of games of OpenSpiel, and how their states are printed, which the library says nowhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Rules(NamedTuple):
    """What a player has to be told.

    Attributes:
        game: Aim and rules.
        reading: What a printed state means.
        betrays: A pattern of what a printed state says of others that a player may not know; its group
            ``player`` is who it is about.
        instead: What is said in its place, with the pattern's groups.
        numbers: What an observation counts and a printed state leaves out: index, number that is 1 of it,
            what it counts.
    """

    game: str
    reading: str = ""
    betrays: str = ""
    instead: str = ""
    numbers: Sequence[tuple[int, float, str]] = ()


RULES: Mapping[str, Rules] = {
    "kuhn_poker": Rules(
        "There is one card more than players, numbered from 0; the highest wins. Each puts in 1 chip and "
        "gets a card. In turn one bets 1 chip or passes; after a bet, to bet is to call it and to pass is "
        "to fold. Who is left with the highest card takes the chips.",
        "The first digit is your card, 0 the lowest; then stand the chips that each player has put in, "
        "the first player's first.",
    ),
    "leduc_poker": Rules(
        "The deck has two cards each of three ranks (one more than players). Each puts in 1 chip and gets "
        "a card; after a first round of bets a card is laid open, and a second round follows. Who pairs "
        "the open card wins, else the higher card. Raises are 2 chips in the first round and 4 in the "
        "second, two at most.",
        "Private is your card, Public the open one: 0 and 1 are of the lowest rank, 2 and 3 of the next, "
        "4 and 5 of the one above. Ante is what each player has put in, Money what each has left, Pot "
        "their sum.",
    ),
    "liars_dice": Rules(
        "Each player has one die with six sides, seen by nobody else. In turn one bids how many dice of "
        "all players show a face, always higher than the bid before, or calls the last bid a lie. A 6 "
        "counts as any face. If at least as many dice show it the bidder wins, else who called it a lie.",
        "The first number is your die; then stand the bids so far, as number of dice and face: 2-3 bids "
        "that two dice show a 3.",
    ),
    "breakthrough": Rules(
        "Pieces go one cell forward, straight or aslant, and take aslant only. Who first gets a piece to "
        "the far row wins. player_0 has b, which move down, player_1 has w, which move up.",
        "Moves are written as from and to cell; a * marks one that takes.",
    ),
    "go_fish": Rules(
        "In turn one asks another player for a rank of which one has a card, and gets all of them; has the "
        "other none, one draws from the stock. Four cards of a rank are a book. Who has the most books "
        "when no card is left wins.",
        "Your cards are a letter for the rank and the number of them. A line says who asked whom for "
        "which rank, counted from 0, how many cards that brought, and the rank of a book.",
        # -3 is the stock.
        r"(?m)^(?P<player>\d+) asked -3 for \d+ recieved \d+",
        r"\g<player> drew a card",
    ),
    "phantom_go": Rules(
        "", numbers=((0, 1.0, "Black stones on the board"), (1, 1.0, "White stones on the board"))
    ),
    "kriegspiel": Rules("", numbers=((5, 0.01, "Moves of both since one took or moved a pawn"),)),
}
