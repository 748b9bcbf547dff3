"""Finds the line of a value in an experiment file, such as ``operators[1].workers.agent.seed``."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from gym_gui.core.errors import FilePosition
from mosaic_worker.plain_files import read_file

if TYPE_CHECKING:
    from yaml.nodes import Node

_STEP: Final = re.compile(r"\[(\d+)\]|\[('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\]|\.?([^.\[\]]+)")
_LARGEST: Final = 2**20
"""Largest size in bytes of a file that is searched."""
_MOST: Final = 20_000
"""Largest number of values in a file that is searched. Anchors in YAML can multiply the values."""
_SHORTEST: Final = 3
"""Length in characters of the shortest value that is searched for in a message."""


class _At(NamedTuple):
    """A value in a text, with its line and column and those of its items.

    Attributes:
        line: Line, from 1.
        column: Column, from 1.
        value: Text of the value; empty for a container.
        items: Items of a container, by key or number.
    """

    line: int
    column: int
    value: str
    items: dict[str | int, _At]


def place_of_value(file: Path, where: str, source: str | None = None) -> FilePosition | None:
    """Return the position of a value, or of the nearest container that the file has.

    Args:
        file: A Python, YAML or JSON file. In a program, only literal values are found.
        where: Path of the value, in the form of :class:`~gym_gui.core.validation.ConfigError`.
        source: Text of the file, which is read by default.

    Returns:
        The place, or ``None`` if the file cannot be parsed.
    """
    found = _root(file, source)
    if found is None:
        return None
    for step in _steps(where):
        inner = found.items.get(step)
        if inner is None:
            break
        found = inner
    return FilePosition(str(file.absolute()), found.line, found.column)


def place_of_operator(file: Path, operator_id: str, message: str = "") -> FilePosition | None:
    """Return the position of the value that a message about an operator quotes, else of the operator.

    Args:
        file: The experiment file.
        operator_id: Id of the operator.
        message: The message.
    """
    root = _root(file, None)
    operators = root.items.get("operators") if root is not None else None
    for operator in operators.items.values() if operators is not None else ():
        name = operator.items.get("id")
        if name is not None and name.value == operator_id:
            return _quoted(file, operator, message, name)
    return None


def place_of_policy(file: Path, name: str, message: str = "") -> FilePosition | None:
    """Return the position of the value that a message about a policy quotes, else of the policy.

    Args:
        file: The tournament file.
        name: Name of the policy in the file.
        message: The message.
    """
    root = _root(file, None)
    policies = root.items.get("policies") if root is not None else None
    policy = policies.items.get(name) if policies is not None else None
    return None if policy is None else _quoted(file, policy, message)


def _quoted(file: Path, at: _At, message: str, name: _At | None = None) -> FilePosition:
    """Return the position of the longest value that a message quotes, else of the container."""
    quoted = [each for each in _leaves(at) if len(each.value) >= _SHORTEST and each.value in message]
    other = [each for each in quoted if each is not name] or quoted
    found = max(other, key=lambda each: len(each.value), default=at)
    return FilePosition(str(file.absolute()), found.line, found.column)


def _root(file: Path, source: str | None) -> _At | None:
    try:
        text = (
            source if source is not None else read_file(file, links=True, limit=_LARGEST).decode("utf-8-sig")
        )
        root = _of_python(text) if file.suffix == ".py" else _of_yaml(text)
    except (OSError, ValueError, RecursionError, SyntaxError, MemoryError):
        return None
    if root is not None and "operators" not in root.items and "experiment" in root.items:
        return root.items["experiment"]
    return root


def _steps(where: str) -> Iterator[str | int]:
    for match in _STEP.finditer(where):
        number, quoted, name = match.groups()
        yield int(number) if number else ast.literal_eval(quoted) if quoted else name


def _leaves(at: _At) -> Iterator[_At]:
    if not at.items:
        yield at
    for inner in at.items.values():
        yield from _leaves(inner)


# -- parsers of the file formats --------------------------------------------------------


def _of_yaml(text: str) -> _At | None:
    """Return the values of YAML or JSON text. JSON is read as YAML after tabs are replaced by spaces."""
    import yaml  # imported only when a file is read

    try:
        node = yaml.compose(text.replace("\t", " "), yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    return None if node is None else _of_node(node, node, count(1))


def _of_node(node: Node, key: Node, counted: Iterator[int]) -> _At:
    """Return a node's value. Raises ``ValueError`` for a recursive file or too many values."""
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode

    if next(counted) > _MOST:
        raise ValueError("too many values")
    items: dict[str | int, _At] = {}
    if isinstance(node, MappingNode):
        for name, value in node.value:
            if isinstance(name, ScalarNode):
                items[str(name.value)] = _of_node(value, name, counted)
    elif isinstance(node, SequenceNode):
        items = {i: _of_node(value, value, counted) for i, value in enumerate(node.value)}
    mark = key.start_mark
    value = str(node.value) if isinstance(node, ScalarNode) else ""
    return _At(mark.line + 1, mark.column + 1, value, items)


def _of_python(text: str) -> _At:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    items: dict[str | int, _At] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                items[name] = _of_expression(value, statement)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                items[name] = _of_expression(value, statement)
            case _:
                pass
    return _At(1, 1, "", items)


def _of_expression(node: ast.expr, key: ast.expr | ast.stmt) -> _At:
    items: dict[str | int, _At] = {}
    value = ""
    match node:
        case ast.Dict(keys=keys, values=values):
            for name, inner in zip(keys, values, strict=True):
                if isinstance(name, ast.Constant):
                    items[str(name.value)] = _of_expression(inner, name)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            items = {i: _of_expression(inner, inner) for i, inner in enumerate(elements)}
        case ast.Call(args=arguments, keywords=given):
            items = {each.arg: _of_expression(each.value, each.value) for each in given if each.arg}
            items |= {i: _of_expression(inner, inner) for i, inner in enumerate(arguments)}
        case ast.Constant(value=constant):
            value = str(constant)
        case _:
            pass
    return _At(key.lineno, key.col_offset + 1, value, items)
