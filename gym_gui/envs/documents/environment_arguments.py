"""Reads the arguments of an environment's class or function from its source, without importing its package.

Names, defaults and types come from the signature. A sentence on each argument comes from the documentation,
which may use Google's ``name: text``, Sphinx's ``:param name: text``, a list (``- `name`: text``) or a table,
as Gymnasium does. The result is JSON Schema with one property for each argument, like the settings of
workers. An argument without a JSON type has only its sentence.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from gym_gui.envs.documents import source
from gym_gui.envs.documents.markdown import first_sentence

Arguments = dict[str, dict[str, Any]]
"""JSON Schema of each argument, by the argument's name."""

_TYPES: Final[Mapping[str, str]] = {
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "str": "string",
    "list": "array",
    "tuple": "array",
    "Sequence": "array",
}
_NOT_SET: Final = frozenset({"self", "cls", "render_mode", "args", "kwargs"})
"""Parameters that are left out of the result, such as the render mode, which the caller sets."""
_MARKS: Final = re.compile(r"[`*]+|<[^>]+>|\{\w+\}(?=`)")
_SHORT: Final = 200


def arguments_of(point: str | Callable[..., Any]) -> Arguments:
    """Return the arguments of ``"module:name"``, or of a class or function; empty without source code."""
    if callable(point):
        return _of_callable(point)
    found = source.find(point)
    if found is None:
        return {}
    text = found.module_text
    function = None if found.node is not None else _function(found.tree.body, point.partition(":")[2])
    taken: Arguments = {}
    if function is not None:
        taken = _of_function(function, frozenset())
        text = f"{ast.get_docstring(function) or ''}\n{text}"
    if function is None or function.args.kwarg is not None:
        for each in source.classes(found):
            text += f"\n{each.text}"
        taken = {**_of_classes(source.classes(found)), **taken}
    return _with_descriptions(taken, text)


def _of_callable(point: Callable[..., Any]) -> Arguments:
    try:
        lines = inspect.cleandoc(inspect.getsource(point))
        tree = ast.parse(lines)
    except (OSError, TypeError, SyntaxError):
        return {}
    node = tree.body[0] if tree.body else None
    text = inspect.getdoc(point) or ""
    if isinstance(node, ast.FunctionDef):
        return _with_descriptions(_of_function(node, frozenset()), text)
    if isinstance(node, ast.ClassDef):
        return _with_descriptions(_of_classes(iter([source.SourceLocation("", tree, node)])), text)
    return {}


def _of_classes(classes: Iterator[source.SourceLocation]) -> Arguments:
    """Return the arguments of a class, and those that ``**kwargs`` passes on to its base classes."""
    taken: Arguments = {}
    given: frozenset[str] = frozenset()
    for each in classes:
        made = _function(each.node.body, "__init__") if each.node is not None else None
        if made is None:
            continue
        own = _with_descriptions(_of_function(made, given), ast.get_docstring(made) or "")
        if given:
            # The derived class itself passes the required arguments of its base class; a caller cannot.
            own = {
                name: about | ({"x-advanced": True} if taken else {})
                for name, about in own.items()
                if "default" in about or "x-default" in about
            }
        taken |= {name: about for name, about in own.items() if name not in taken}
        given |= _handed_on(made) | {argument.arg for argument in made.args.args}
        if made.args.kwarg is None:
            break
    return taken


def _function(body: list[ast.stmt], name: str) -> ast.FunctionDef | None:
    return next((node for node in body if isinstance(node, ast.FunctionDef) and node.name == name), None)


def _handed_on(function: ast.FunctionDef) -> frozenset[str]:
    """Return the keywords that a function passes to ``super().__init__(…)`` or to another ``__init__``."""
    return frozenset(
        keyword.arg
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "__init__"
        for keyword in node.keywords
        if keyword.arg is not None
    )


def _of_function(function: ast.FunctionDef, without: frozenset[str]) -> Arguments:
    taken = function.args
    places = [*taken.posonlyargs, *taken.args]
    defaults: list[ast.expr | None] = [*[None] * (len(places) - len(taken.defaults)), *taken.defaults]
    pairs = [*zip(places, defaults, strict=True), *zip(taken.kwonlyargs, taken.kw_defaults, strict=True)]
    return {
        argument.arg: _schema(argument.annotation, default)
        for argument, default in pairs
        if argument.arg not in _NOT_SET and argument.arg not in without and not argument.arg.startswith("_")
    }


def _schema(annotation: ast.expr | None, default: ast.expr | None) -> dict[str, Any]:
    about = _annotated(annotation)
    if default is None:
        return about
    try:
        value: Any = ast.literal_eval(default)
    except ValueError:
        return about | {"x-default": ast.unparse(default)}
    return with_default(about, value)


def with_default(about: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Return an argument's JSON Schema with a default; a missing type is inferred from the default.

    A default of ``None`` makes the type nullable.
    """
    typed = dict(about)
    if "type" not in typed and "enum" not in typed and (found := _type_of(value)):
        typed["type"] = found
    if value is None and isinstance(typed.get("type"), str):
        typed["type"] = [typed["type"], "null"]
    return typed | {"default": list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value}


def _type_of(value: Any) -> str:
    """Return the JSON type of a default, or ``""``.

    An int gives "number", because floats may be valid, too.
    """
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            each = cast("list[Any]", value)
            return "array" if all(isinstance(part, (int, float, str)) for part in each) else ""
        case _:
            return ""


def _annotated(node: ast.expr | None) -> dict[str, Any]:
    """Return the JSON Schema of an annotation; empty if JSON has no such type."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return _annotated(ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            return {}
    parts = _alternatives(node)
    kinds = [_one(part) for part in parts if not _is_none(part)]
    if len(kinds) != 1 or not kinds[0]:
        numbers = {kind.get("type") for kind in kinds}
        if not kinds or not numbers <= {"integer", "number"}:
            return {}
        kinds = [{"type": "number"}]
    about = kinds[0]
    if len(parts) > 1 and any(map(_is_none, parts)):
        about = {**about, "type": [about.get("type", "string"), "null"]}
        if "enum" in about:
            about["enum"] = [*about["enum"], None]
    return about


def _alternatives(node: ast.expr | None) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_alternatives(node.left), *_alternatives(node.right)]
    if isinstance(node, ast.Subscript) and _name(node.value) == "Optional":
        return [*_alternatives(node.slice), ast.Constant(None)]
    if isinstance(node, ast.Subscript) and _name(node.value) == "Union":
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return [part for each in inside for part in _alternatives(each)]
    return [] if node is None else [node]


def _one(node: ast.expr) -> dict[str, Any]:
    if isinstance(node, ast.Subscript):
        head = _name(node.value)
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if head == "Literal":
            values = [each.value for each in inside if isinstance(each, ast.Constant)]
            return {"enum": values} if len(values) == len(inside) else {}
        if _TYPES.get(head[:1].upper() + head[1:], _TYPES.get(head.lower())) != "array":
            return {}
        items = _one(inside[0])
        return {"type": "array", "items": items} if items.get("type") not in (None, "array") else {}
    kind = _TYPES.get(_name(node), "")
    return {"type": kind} if kind and kind != "array" else {}


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _name(node: ast.expr) -> str:
    """Return the last part of a dotted name: ``Optional`` for ``typing.Optional``; ``""`` for other nodes."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


# -- descriptions from the documentation


def _with_descriptions(taken: Arguments, text: str) -> Arguments:
    """Return the arguments with descriptions from the documentation, if it has any."""
    said = {name: _description_of(name, text) for name, about in taken.items() if "description" not in about}
    return {
        name: about | ({"description": said[name]} if said.get(name) else {}) for name, about in taken.items()
    }


def _description_of(name: str, text: str) -> str:
    for pattern in (
        rf"^[ \t]*\|[ \t]*`{name}`[^|\n]*\|(?:[^|\n]*\|)*?[ \t]*(?P<text>[^|\n]{{12,}})\|[ \t]*$",
        rf"^[ \t]*:param(?: \w+)? {name}:[ \t]*(?P<text>.+(?:\n[ \t]+(?!:).+)*)",
        rf"^[ \t]*[-*+]?[ \t]*[`*]+{name}(?:=[^`*]*)?[`*]+(?:[ \t]*\([^)\n]*\))?[ \t:=-]*(?P<text>.+)",
        rf"^(?P<at>[ \t]*){name}[ \t]*:[^\n]*\n(?P<text>(?P=at)[ \t]+\S.*(?:\n(?P=at)[ \t]+\S.*)*)",
        rf"^[ \t]*{name}[ \t]*(?:\([^)\n]*\))?:[ \t]+(?P<text>.+(?:\n[ \t]{{6,}}(?!\w+[ \t]*(?:\(|:)).+)*)",
    ):
        found = re.search(pattern, text, re.MULTILINE)
        if found is not None:
            plain = " ".join(_MARKS.sub("", found["text"]).split()).strip(" :-")
            sentence = first_sentence(plain) or plain
            if len(sentence.split()) > 2 and "default=" not in sentence:
                short = sentence if len(sentence) <= _SHORT else f"{sentence[:_SHORT].rsplit(' ', 1)[0]} …"
                return (short[:1].upper() + short[1:]).rstrip(".")
    return ""
