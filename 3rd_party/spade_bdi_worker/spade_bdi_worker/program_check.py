"""Checks programs while a user writes them: ``python -m spade_bdi_worker.program_check``.

The program reads one JSON object per line from stdin, ``{"name": "solve.asl", "text": "…", "actions": ["turn
left", …], "folder": "…"}``. Without ``actions``, actions are not checked; without ``folder``, no file can be
included. For each line it prints one JSON line, ``{"problems": [{"line": 3, "text": "a sentence", "word":
"fly"}], "ending": ".asl", "templates": [{"name", "text"}], "colors": [[pattern, role]]}``. Lines count from
1; 0 is the whole file. The checked program is not run.
"""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import agentspeak

from spade_bdi_worker.agent import Episode, skills_of, words_of
from spade_bdi_worker.program import ProgramError, collected_warnings, parse_program, unknown_actions

_HERE = Path(__file__).resolve()
TEMPLATES = (_HERE.parents[3] / "docs" / "examples" / "bdi", _HERE.parents[2] / "examples" / "bdi")
"""Folders with example programs as templates: in a checkout, in a wheel."""
COLORS = (
    (r"[+\-]?[!?][a-z]\w*", "goal"),
    (r"^\s*[+\-][a-z]\w*", "goal"),
    (r"\b[A-Z_]\w*", "variable"),
    (r"\b\d+(\.\d+)?\b", "number"),
    (r"\b(not|true|false|if|else|while|for)\b|<-", "keyword"),
    (r"\.[a-z]\w*", "keyword"),
    (r'"[^"]*"', "text"),
    (r"//.*$", "comment"),
)
"""Patterns to highlight in a program, with their roles; a later pattern overrides an earlier one."""
_PLACE = re.compile(r"^(?P<name>.*?), line (?P<line>\d+): (?P<text>.*)$", re.DOTALL)
_QUOTED = re.compile(r"no (?:such )?action '([\w.]+)")
_UNKNOWN = "any_action"


def check(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the errors in a program's text, with templates and colors for an editor.

    Args:
        asked: Request, in the form that the module's docstring describes.
    """
    name, text = str(asked.get("name") or "program.asl"), str(asked.get("text") or "")
    actions, folder = asked.get("actions"), str(asked.get("folder") or "")
    wrong = _wrong(name, text, actions, Path(folder) if folder else None)
    return {
        "problems": [_problem(name, sentence) for sentence in wrong],
        "ending": ".asl",
        "templates": [
            {"name": file.name, "text": file.read_text()}
            for folder in TEMPLATES
            for file in sorted(folder.glob("*.asl"))
        ],
        "colors": [list(color) for color in COLORS],
    }


def _wrong(name: str, text: str, actions: list[str] | None, folder: Path | None) -> list[str]:
    meanings = [str(action) for action in actions or ()]
    words, skills = list(words_of(meanings)), skills_of(meanings)
    try:
        program = parse_program(name, text, folder)
    except ProgramError as error:
        return list(error.problems)
    with collected_warnings() as problems:
        try:
            Episode(program, words or [_UNKNOWN], skills, "agent", 0)
        except (agentspeak.AslError, agentspeak.AggregatedError) as error:
            return problems or [f"{name}: {error}"]
    return [*problems, *(unknown_actions(program, words, skills) if words else ())]


def _problem(name: str, sentence: str) -> dict[str, Any]:
    """Return an error with its line, which is 0 if the error is in an included file."""
    found, quoted = _PLACE.match(sentence), _QUOTED.search(sentence)
    here = found is not None and found["name"] == name
    place = (
        {"line": int(found["line"]), "text": found["text"]}
        if found and here
        else {"line": 0, "text": sentence}
    )
    return {**place, "word": quoted[1] if quoted else ""}


def main() -> None:
    """Answer requests until stdin ends."""
    for line in sys.stdin:
        print(json.dumps(check(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
