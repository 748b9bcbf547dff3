"""The study of strangers in ``docs/examples/zero_shot``, shortened."""

from __future__ import annotations

import yaml

from tests.support.commands import ROOT, Mosaic

EXAMPLES = ROOT / "docs" / "examples" / "zero_shot"


def test_partnered_and_teams_meet_strangers(mosaic: Mosaic) -> None:
    tournament = yaml.safe_load((EXAMPLES / "strangers.yaml").read_text())
    for name in ("seed1", "seed2", "seed12", "seed13"):
        del tournament["policies"][name]
    for player in tournament["policies"].values():
        player["checkpoint"] = str(EXAMPLES / player["checkpoint"])
    tournament |= {"held_out": ["seed11"], "execution": {"seeds": "range(0, 2)"}}
    file = mosaic.home / "strangers.yaml"
    file.write_text(yaml.safe_dump(tournament))
    done = mosaic("tournament", file)
    assert done.status == 0, done.err
    # Each of the pool with itself, with the other and with the stranger: both ways, each seat, each seed.
    assert "seed11 (held out)" in done.out
    whole = mosaic("tournament", EXAMPLES / "strangers.yaml", "--dry-run")
    assert whole.status == 0, whole.err
    for name in ("partnered", "seed1", "seed3", "seed13"):
        assert name in whole.out
