"""Tests ask what a caller sees: what begins with an underscore is its owner's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OTHERS = {
    "tests/envs/describers/test_board_words.py": {"_go"},
    "tests/envs/describers/test_crafter_words.py": {"_balance_chunk", "_do_object", "_player", "_world"},
    "tests/envs/describers/test_field_rules.py": {"_prev_pos"},
    "tests/envs/describers/test_nethack_words.py": {"_observation_keys"},
    "tests/envs/describers/test_rware_words.py": {"_recalc_grid"},
    "tests/envs/describers/test_vector_words.py": {"_get_ob", "_get_obs", "_terminal"},
    "tests/envs/families/test_crafter.py": {"_balance_object", "_player", "_step", "_world"},
    "tests/envs/families/test_dm_control.py": {"_env"},
    "tests/envs/families/test_minihack.py": {"_blstats_index"},
    "tests/envs/families/test_rware.py": {"_recalc_grid"},
    "tests/envs/test_env_meaning.py": {"_find_loose_ball_pos", "_target_goal_pos"},
    "tests/support/faults.py": {"_exit"},
    "tests/support/hidden.py": {
        *("_env", "_food_spawned", "_gen_valid_moves", "_make_obs"),
        *("_update_action_masks", "_update_image", "_update_observations"),
    },
    "tests/support/behind/served_behind.py": {
        *("_OF_AN_AGENT", "_cards", "_compiled", "_draw_ix", "_env", "_game"),
        *("_hands", "_n_red_in_hands", "_observation", "_observe", "_seen", "_shown"),
        *("_shuffled_players", "_state", "_step", "_wall"),
    },
    "tests/support/tiny_models.py": {"_exit"},
}
"""Members of other libraries that have no public way to what a test needs, by the file that needs them."""
PUBLIC = {"_asdict", "_fields", "_make", "_replace", "_repr_html_"}
"""Of named tuples, and of what notebooks show."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in PUBLIC and name != "_"


def names(tree: ast.Module) -> Iterator[str]:
    """Private members that are reached for from outside: as attributes, by import, by name."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name) if is_private(name):
                yield name
            case ast.ImportFrom(names=imported):
                yield from (alias.name for alias in imported if is_private(alias.name))
            case ast.Call(func=ast.Name(id=how) | ast.Attribute(attr=how), args=args) if how in (
                "getattr",
                "setattr",
                "delattr",
            ):
                given = (a.value for a in args[:2] if isinstance(a, ast.Constant))
                last = (text.rpartition(".")[2] for text in given if isinstance(text, str))
                yield from filter(is_private, last)
            case _:
                pass


def found(root: Path) -> dict[str, set[str]]:
    """Of all tests below a folder, by file."""
    files = [*root.glob("tests/**/*.py"), *root.glob("3rd_party/*/tests/**/*.py")]
    named = {str(file.relative_to(root)): set(names(ast.parse(file.read_bytes()))) for file in files}
    return {file: members for file, members in named.items() if members}


def test_no_test_touches_a_private_member_of_ours() -> None:
    assert found(ROOT) == OTHERS


def test_each_way_to_one_is_seen(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(
        "from them import _made, open\n"
        "class It:\n"
        "    def see(self): return self._own, super().__init__()\n"
        "it._asked; it.them._deep.wide; it._replace(); it.__class__; _()\n"
        "patch.setattr(it, '_set', 1); patch.setattr('them.it._dotted', 1); getattr(it, '_got')\n"
    )
    wanted = {"_made", "_asked", "_deep", "_set", "_dotted", "_got"}
    assert found(tmp_path) == {"tests/test_it.py": wanted}
