"""Converts environments' docstrings to Markdown for a narrow column."""

from __future__ import annotations

import inspect
import re

_FIGURE = re.compile(r"^```\{figure\}.*?^```[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)|<img\b[^>]*>")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_ANCHOR = re.compile(r"<a\b[^>]*>(.*?)</a>", re.DOTALL)
_ID_ANCHOR = re.compile(r"<a\b[^>]*/>")
_BREAK = re.compile(r"<br\s*/?>")
_PART_OF = re.compile(r"^This environment is part of .*?$\n?", re.MULTILINE)
_UNDERLINED = re.compile(r"^(\S[^\n]*)\n(=+|-{3,})[ \t]*$", re.MULTILINE)
_PARAMETER = re.compile(r"^(\w+(?:, \w+)*) : ([^\n]+)\n((?:[ \t]+\S[^\n]*\n?)+)", re.MULTILINE)
_ROLE = re.compile(r":\w+:`~?([^`]+)`")
_BLANKS = re.compile(r"\n{3,}")
_SPEC_CELL = re.compile(r"^\|\s*(?:Import|Creation)\b")
_HEADING = re.compile(r"^#+\s*(.*?)\s*#*\s*$")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_MARKS = re.compile(r"[*`]+|(?<!\w)_|_(?!\w)")
_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bet al)(?<!\betc)(?<!\bcf)(?<!\b[A-Z])[.!?](?=\s|$)")
_NO_PROSE = re.compile(r"[|#>]|[-+*] |\d+\. |<|!\[|:\w+:|@|\$\$|={3}|-{3}|`\w+`\s*:")


def clean(docstring: str) -> str:
    """Return an environment's docstring as plain Markdown.

    The title, figures and pictures (which are on a web site), PettingZoo's line and table on how to import
    the environment, and HTML are removed. Tables, lists and code stay.
    """
    text = inspect.cleandoc(docstring)
    text = _FIGURE.sub("", text)
    text = _IMAGE.sub("", text)
    text = _PART_OF.sub("", text)
    text = _ID_ANCHOR.sub("", text)
    text = _ANCHOR.sub(r"\1", text)
    text = _BREAK.sub(" ", text)
    text = _ROLE.sub(r"`\1`", text)
    text = _UNDERLINED.sub(r"## \1", text)
    text = _PARAMETER.sub(_listed, text)
    lines = _without_first_heading(_without_import_table(text.splitlines()))
    return _BLANKS.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def _listed(match: re.Match[str]) -> str:
    said = " ".join(match[3].split())
    return f"- `{match[1]}` ({match[2].strip()}): {said}\n"


def _without_import_table(lines: list[str]) -> list[str]:
    start = next((i for i, line in enumerate(lines) if _SPEC_CELL.match(line)), None)
    if start is None:
        return lines
    end = next((i for i in range(start, len(lines)) if not lines[i].startswith("|")), len(lines))
    return lines[:start] + lines[end:]


def _without_first_heading(lines: list[str]) -> list[str]:
    """Return the lines without a first-level heading (the title) or a heading "Description" at the start."""
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return lines
    match = _HEADING.match(lines[first])
    if match and (lines[first].startswith("# ") or match[1].lower() == "description"):
        return _without_first_heading(lines[first + 1 :])
    return lines


def title(docstring: str) -> str:
    """Return the first-level heading at the start of a docstring; ``""`` if there is none."""
    for line in inspect.cleandoc(docstring).splitlines():
        if line.startswith("# "):
            return line[2:].strip()
        if line.strip():
            return ""
    return ""


def first_sentence(markdown: str) -> str:
    """Return the first sentence of prose in Markdown, without marks; ``""`` if there is none."""
    prose: list[str] = []
    fenced = False
    for line in [*markdown.splitlines(), ""]:
        if _FENCE.match(line):
            fenced = not fenced
            line = ""
        bare = line.strip()
        if fenced or not bare or _NO_PROSE.match(bare) or line.startswith("    "):
            if sentence := _sentence(" ".join(prose)):
                return sentence
            prose = []
        else:
            prose.append(bare)
    return ""


def _sentence(paragraph: str) -> str:
    text = _MARKS.sub("", _LINK.sub(r"\1", paragraph)).strip()
    end = _END.search(text)
    text = text[: end.end()] if end else text.rstrip(":,;") + ("." if text else "")
    return text if len(text.split()) > 2 else ""
