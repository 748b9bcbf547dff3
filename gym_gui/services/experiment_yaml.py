"""YAML experiment files: safe types only, and no key twice."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from gym_gui.core.errors import ExperimentError
from gym_gui.core.validation import shown


def parse_yaml(source: str, name: str) -> object:
    """The file's content.

    Args:
        source: The text.
        name: The file's name, for messages.

    Raises:
        ExperimentError: Not YAML, or a mapping that gives a key twice.
    """
    import yaml  # only where a YAML file is read: it costs 20 ms

    class Loader(yaml.SafeLoader):
        """Refuses what YAML would let the last one win."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            written = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            for i, key in enumerate(written):
                if key in written[:i] and key != "<<":
                    line = node.start_mark.line + 1
                    raise ExperimentError(f"{name}:{line}: key {shown(key)} is given twice")
            return super().construct_mapping(node, deep=deep)

    try:
        return yaml.load(source, Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ExperimentError(f"{name}:{line}: not valid YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ExperimentError(f"{name}: not valid YAML: {reason}") from None
