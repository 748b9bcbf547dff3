"""Which keys and values fit where one types, in every format that the editor opens."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gym_gui.core.config import OperatorConfig
from gym_gui.core.declared_keys import keys_of, name_of
from gym_gui.core.experiment.assignment import LinkGroup, WorkerAssignment
from gym_gui.core.experiment.execution import ExecutionConfig, RecordConfig
from gym_gui.ui.editor.completion import offers_in_experiment, offers_in_manifest
from gym_gui.ui.editor.file_request import Offers


def offered(
    suffix: str, text: str, find: Callable[[str, str, int], Offers | None] = offers_in_experiment
) -> list[str]:
    """What would be written at the bar in the text."""
    before, after = text.split("|")
    found = find(suffix, before + after, len(before))
    return [] if found is None else [each.written for each in found.fitting]


def written(suffix: str, text: str, choice: int = 0) -> str:
    """The text after an offer is taken."""
    before, after = text.split("|")
    found = offers_in_experiment(suffix, before + after, len(before))
    assert found is not None
    whole = before + after
    return whole[: found.start] + found.fitting[choice].written + whole[found.end :]


PLACES = [
    (".py", 'operators = [{"id": "a", |}]', OperatorConfig, {"id"}),
    (".py", 'operators = [{"workers": {"agent": {|', WorkerAssignment, set[str]()),
    (".py", 'execution = {"record": {|}, "seeds": 0}', RecordConfig, set[str]()),
    (".json", '{"operators": [{"link_groups": [{|}]}]}', LinkGroup, set[str]()),
    (".json", '{"experiment": {"execution": {"until": "all", |}}}', ExecutionConfig, {"until"}),
    (".yaml", "operators:\n  - id: a\n    |\n    seats: swap\n", OperatorConfig, {"id", "seats"}),
    (".yaml", "operators:\n- id: a\n  workers:\n    agent:\n      |\n", WorkerAssignment, set[str]()),
    (".yaml", "operators:\n- {id: a, manager: {agent: {|}}}\n", WorkerAssignment, set[str]()),
    (".yaml", "operators:\n- id: a\nexecution:\n  seeds: 1\n  |\n", ExecutionConfig, {"seeds"}),
    (".yml", "policies: {a: {|}}\n", WorkerAssignment, set[str]()),
]


@pytest.mark.parametrize(("suffix", "text", "cls", "there"), PLACES)
def test_the_keys_of_a_place_are_those_that_are_declared(
    suffix: str, text: str, cls: type, there: set[str]
) -> None:
    names = [name_of(each, about) for each, about in keys_of(cls).items()]
    found = [each.strip('": ') for each in offered(suffix, text)]
    assert found == [name for name in names if name not in there]


def test_another_spelling_of_a_key_counts_as_that_key() -> None:
    assert '"environment_mode": ' in offered(".py", 'execution = {"seeds": 0, |}')
    assert '"environment_mode": ' not in offered(".py", 'execution = {"env_mode": "fixed", |}')


@pytest.mark.parametrize(
    ("suffix", "before", "after"),
    [
        (".py", 'execution = {"num|}', 'execution = {"num_episodes": }'),
        (".py", 'execution = {"num|"}', 'execution = {"num_episodes": }'),
        (".py", "execution = {'num|': 3}", "execution = {'num_episodes': 3}"),
        (".py", "execution = {num|}", 'execution = {"num_episodes": }'),
        (".py", "exe|\n", "execution = \n"),
        (".json", '{"execution": {"num|"}}', '{"execution": {"num_episodes": }}'),
        (".yaml", "execution:\n  num|\n", "execution:\n  num_episodes: \n"),
        (".yaml", "execution:\n  num|_epi: 3\n", "execution:\n  num_episodes: 3\n"),
        (".yaml", "execution: {until: d|}\n", "execution: {until: decided}\n"),
        (".json", '{"execution": {"auto_run": t|}}', '{"execution": {"auto_run": true}}'),
        (".py", 'execution = {"auto_run": T|}', 'execution = {"auto_run": True}'),
        (".py", 'execution = {"until": d|}', 'execution = {"until": "decided"}'),
    ],
)
def test_what_is_taken_is_written_as_the_format_has_it(suffix: str, before: str, after: str) -> None:
    assert written(suffix, before) == after


@pytest.mark.parametrize(
    ("suffix", "text", "words"),
    [
        (".yaml", "operators:\n- id: a\n  api: |\n", ["aec", "parallel"]),
        (".yaml", "execution:\n  record: {compress: |}\n", ["true", "false"]),
        (".py", 'operators = [{"workers": {"a": {"type": "ran|"}}}]', ['"random"']),
        (".json", '{"operators": [{"workers": {"a": {"deterministic": |}}}]}', ["true", "false"]),
        (".yaml", "operators:\n- workers: {a: {on_invalid: n|}}\n", ["noop"]),
        (".yaml", "policies: {a: {type: random}}\nschedule: s|\n", ["swiss"]),
    ],
)
def test_values_are_offered_where_there_are_a_few(suffix: str, text: str, words: list[str]) -> None:
    assert offered(suffix, text) == words


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".py", '# {"see|'),
        (".py", 'execution = {"seeds"|}'),
        (".py", 'execution = {"seeds": 0 |}'),
        (".py", 'players = {"see|'),
        (".py", 'operators = [OperatorConfig(workers={"a": {"ty|"}})]'),
        (".py", "for seed in see|"),
        (".py", 'operators = [{"id": "see|"}]'),
        (".yaml", "operators:\n- id: a\n  # see|\n"),
        (".yaml", "operators:\n- id: a\n  env_kwargs: {see|}\n"),
        (".yaml", "operators:\n- id: |\n"),
        (".json", '["see|"]'),
        (".toml", "[launch|\n"),
    ],
)
def test_nothing_is_offered_where_no_declared_key_belongs(suffix: str, text: str) -> None:
    assert offered(suffix, text) == []


def test_the_top_of_a_file_goes_by_what_it_is() -> None:
    assert offered(".yaml", "|") != []
    of_experiment = offered(".yaml", "operators: []\n|")
    assert of_experiment == ["execution: ", "policies: ", "matrix: "]
    of_tournament = offered(".yaml", "policies: {}\n|")
    assert "schedule: " in of_tournament and "operators: " not in of_tournament
    assert "seats: " not in of_tournament


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('id = "a"\nki|\n[launch]\n', "kind = "),
        ("kind = b|", '"baseline"'),
        ("[launch]\nca|", "carrier = "),
        ('[launch]\nentry = "a:B"\n[tr|\n', "train]"),
        ("[cap|]\n", "capabilities"),
        ("[sett|\n", "settings."),
        ("[settings.speed]\nty|\n", "type = "),
        ('[settings.speed]\ntype = "ch|"\n', '"choice"'),
        ('[settings.speed]\noptions = [\n  {value = "a"},\n  {value = "b", ti|},\n]\n', "title = "),
        ('[[settings.speed.options]]\nvalue = "a"\nmea|', "meaning = "),
        ("[inputs]\nimage = op|", '"optional"'),
        ("[files.model]\nsha|\n", "sha256 = "),
    ],
)
def test_keys_of_a_worker_manifest(text: str, first: str) -> None:
    assert offered(".toml", text, offers_in_manifest)[0] == first
