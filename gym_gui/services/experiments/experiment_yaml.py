"""Parses YAML experiment files with safe types only, and refuses duplicate keys."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from gym_gui.core.errors import ExperimentError, FilePosition
from gym_gui.core.validation import shown


def parse_yaml(source: str, name: str) -> object:
    """Return the content of a YAML file.

    Args:
        source: Text of the file.
        name: Name of the file in messages.

    Raises:
        ExperimentError: The text is not YAML, or a mapping has a key twice.
    """
    import yaml  # imported only when a YAML file is read, as it takes 20 ms

    class Loader(yaml.SafeLoader):
        """Loader that refuses duplicate keys, of which YAML would use the last."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            written = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            for i, key in enumerate(written):
                if key in written[:i] and key != "<<":
                    line = node.start_mark.line + 1
                    second = [k for k, _ in node.value if getattr(k, "value", None) == key][1].start_mark
                    place = FilePosition(name, second.line + 1, second.column + 1)
                    raise ExperimentError(f"{name}:{line}: key {shown(key)} is given twice", place=place)
            return super().construct_mapping(node, deep=deep)

    try:
        return yaml.load(source, Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = FilePosition(name, mark.line + 1, mark.column + 1) if mark else FilePosition(name, 1)
        raise ExperimentError(f"{name}:{place.line}: not valid YAML: {error.problem}", place=place) from None
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ExperimentError(f"{name}: not valid YAML: {reason}") from None
