"""The table of operators on the Operators page, saved to a file for undo and for the next start."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.execution import TimeControl
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.seeding import check_seed
from gym_gui.core.trusted.trust import Origin
from gym_gui.core.validation import ConfigError
from gym_gui.services.preset_store import write_text
from mosaic_worker.plain_files import read_file

NAME: Final = "operators.json"
"""File in the data folder that stores the table. Pages with a single operator use other files."""
FORMAT: Final = 1
_KEY: Final = "mosaic_operators"
_MAX_BYTES: Final = 2**23


@dataclass(frozen=True)
class OperatorTable:
    """The operators that play side by side, and their first seed.

    Attributes:
        operators: Operators in order.
        seed: Environment seed of the first episode.
        time_control: Time of each side in a game with a clock; ``None`` without a clock.
    """

    operators: tuple[OperatorConfig, ...] = ()
    seed: int = 0
    time_control: TimeControl | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the operators, in order."""
        return tuple(operator.operator_id for operator in self.operators)

    def find(self, operator_id: str) -> OperatorConfig | None:
        """Return the operator with an id, or ``None``."""
        return next((o for o in self.operators if o.operator_id == operator_id), None)

    def save(self, path: Path) -> None:
        """Write the table to a file, whole or not at all.

        Raises:
            UsageError: The file cannot be written.
        """
        content = {
            _KEY: FORMAT,
            "seed": self.seed,
            **({"time_control": self.time_control.to_row()} if self.time_control is not None else {}),
            "operators": [
                {**operator.to_record(), "origin": asdict(operator.origin), "named": operator.named}
                | ({"host": operator.host} if operator.host else {})
                for operator in self.operators
            ],
        }
        write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: Path) -> OperatorTable | None:
        """Return the table saved in a file, or ``None`` if there is no such file.

        Raises:
            UsageError: The file cannot be read, is damaged, or has a later format.
        """
        try:
            content: Any = json.loads(read_file(path, links=True, limit=_MAX_BYTES))
            if content[_KEY] != FORMAT:
                raise UsageError(f"{path} was written by a later version of MOSAIC", fix="Use that version")
            time = content.get("time_control")
            control = None if time is None else TimeControl(time["seconds"], time["increment_s"])
            return cls(tuple(map(_operator, content["operators"])), check_seed(content["seed"]), control)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
        except (ConfigError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(f"{path} is damaged: {error}") from error


def _operator(record: dict[str, Any]) -> OperatorConfig:
    fields = dict(record)
    # ``origin`` and ``named`` are kept, so that values that came from a file still count as the file's.
    said = cast("dict[str, Any]", fields.pop("origin"))
    origin, named = Origin(str(said["file"]), str(said["folder"])), bool(fields.pop("named"))
    host = str(fields.pop("host", ""))  # the machine to run on, which is not part of an experiment
    experiment = experiment_from_data({"operators": [fields]}, complete=False, origin=origin)
    return replace(experiment.operators[0], named=named, host=host)
