"""Reads Python experiment files that are literal data, without executing them."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from typing import cast

from gym_gui.core.errors import ExperimentError, FilePosition
from gym_gui.core.validation import shown


class NotLiteralError(Exception):
    """Error for a Python file that is a program. ``line`` is the first line that is not literal data."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line} is not literal data")
        self.line = line


def parse_python(source: str, name: str) -> ast.Module:
    """Return the syntax tree of an experiment file.

    Args:
        source: Text of the file.
        name: Name of the file in messages.

    Raises:
        ExperimentError: The text is not Python, or a mapping has a key twice.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a text such as '\\d' is not a reason to fail
            tree = ast.parse(source)
    except SyntaxError as error:
        place = FilePosition(name, error.lineno or 1, error.offset or 0)
        message = f"{name}:{place.line}: not valid Python: {error.msg}"
        raise ExperimentError(message, place=place) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ExperimentError(f"{name}: not valid Python: {error or 'nested too deeply'}") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            _refuse_double_keys(node, name)
    return tree


def literal_values(tree: ast.Module) -> dict[str, object]:
    """Return the values of the file's plain assignments.

    Accepted values are literals, ``range(...)``, ``list(...)`` of such values, and names assigned before.

    Raises:
        NotLiteralError: The file contains anything else.
    """
    values: dict[str, object] = {}
    for statement in tree.body:
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.ImportFrom(module="__future__"):
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = _value(value, values)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                values[name] = _value(value, values)
            case _:
                raise NotLiteralError(statement.lineno)
    return values


def _value(node: ast.expr, names: Mapping[str, object]) -> object:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as constant):
            return constant
        case ast.List(elts=elements):
            return [_value(element, names) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(_value(element, names) for element in elements)
        case ast.Dict(keys=keys, values=items) if all(isinstance(key, ast.Constant) for key in keys):
            pairs = zip(keys, items, strict=True)
            return {key.value: _value(item, names) for key, item in pairs if isinstance(key, ast.Constant)}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]) if "range" not in names:
            return _range([_value(argument, names) for argument in arguments], node.lineno)
        case ast.Call(func=ast.Name(id="list"), args=[argument], keywords=[]) if "list" not in names:
            inner = _value(argument, names)
            if not isinstance(inner, (list, tuple, range)):
                raise NotLiteralError(node.lineno)
            return cast(object, inner)
        case _:
            raise NotLiteralError(node.lineno)


def _range(arguments: list[object], line: int) -> range:
    numbers = [n for n in arguments if isinstance(n, int)]
    if len(numbers) != len(arguments):
        raise NotLiteralError(line)
    try:
        return range(*numbers)
    except (TypeError, ValueError):  # the evaluation will report the error
        raise NotLiteralError(line) from None


def _refuse_double_keys(node: ast.Dict, name: str) -> None:
    seen: set[str] = set()
    for key in node.keys:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            if key.value in seen:
                place = FilePosition(name, key.lineno, key.col_offset + 1)
                message = f"{name}:{key.lineno}: key {shown(key.value)} is given twice"
                raise ExperimentError(message, place=place)
            seen.add(key.value)
