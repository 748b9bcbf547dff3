"""Matrix rows of the design documents: which roles of policies play against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

Side = tuple[str | Mapping[str, Any], ...]
"""Players of a team: roles, or mappings of a role (``policy``) and its settings. One player fills all slots.
"""


class DocumentRow(NamedTuple):
    """One row of the design documents.

    Attributes:
        title: Title of the row in the documents.
        sides: Players of each team.
    """

    title: str
    sides: tuple[Side, Side]


RL, SOLO, CO_TRAINED, LLM, RANDOM, NOOP = "rl", "solo", "co_trained", "llm", "random", "noop"

ROLES: Final = (RL, SOLO, CO_TRAINED, LLM, RANDOM, NOOP)
"""Roles in the documents' rows. ``solo`` was trained without a partner, ``co_trained`` with one."""

STANDS_IN: Final = {SOLO: RL}
"""For a role, the role whose policy plays if the role has no policy of its own."""

ALWAYS_THERE: Final[Mapping[str, Mapping[str, Any]]] = {RANDOM: {"type": "random"}, NOOP: {"type": "passive"}}
"""Slots for the roles for which the user need not define a policy."""


def _led(level: int) -> Side:
    return ({"policy": LLM, "coordination_level": level},)


_HETEROGENEOUS: Side = (SOLO, LLM)

GROUPS: Final[Mapping[str, Mapping[str, DocumentRow]]] = {
    "adversarial": {
        "rl_vs_rl": DocumentRow("RL vs RL", ((RL,), (RL,))),
        "llm_vs_llm": DocumentRow("LLM vs LLM", ((LLM,), (LLM,))),
        "rl_vs_llm": DocumentRow("RL vs LLM", ((RL,), (LLM,))),
        "rl_vs_random": DocumentRow("RL vs Random", ((RL,), (RANDOM,))),
    },
    "cooperative": {
        "heterogeneous_vs_crippled": DocumentRow(
            "Heterogeneous vs Crippled", (_HETEROGENEOUS, (SOLO, RANDOM))
        ),
        "heterogeneous_vs_solo": DocumentRow("Heterogeneous vs Solo", (_HETEROGENEOUS, (SOLO, NOOP))),
        "solo_pair_vs_solo_pair": DocumentRow("Solo-pair vs Solo-pair", ((SOLO,), (SOLO,))),
        "heterogeneous_vs_co_trained": DocumentRow(
            "Heterogeneous vs Co-trained", (_HETEROGENEOUS, (CO_TRAINED,))
        ),
        "solo_pair_vs_co_trained": DocumentRow("Solo-pair vs Co-trained", ((SOLO,), (CO_TRAINED,))),
    },
    "coordination": {
        f"coordination_{first}_vs_{second}": DocumentRow(
            f"Coordination level {first} vs {second}", (_led(first), _led(second))
        )
        for first, second in ((1, 2), (1, 3), (2, 3))
    },
}
"""Rows by table of the documents."""

ROWS: Final[Mapping[str, DocumentRow]] = {name: row for rows in GROUPS.values() for name, row in rows.items()}


def named_rows(name: str) -> list[str]:
    """Return the rows for a name: all for ``documents``, those of a table, or one row; empty if unknown."""
    if name == "documents":
        return list(ROWS)
    return list(GROUPS[name]) if name in GROUPS else [name] if name in ROWS else []
