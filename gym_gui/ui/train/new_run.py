"""Form for new training runs: worker, algorithm, environment, settings, seeds and name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QWidget

from gym_gui import envs
from gym_gui.controllers.setup.installing import missing_in
from gym_gui.core.asyncio_tasks import end_task
from gym_gui.services.trainings.training_choices import (
    Trainer,
    algorithm_reason,
    environment_reason,
    find_trainers,
)
from gym_gui.services.trainings.training_estimate import before_it, estimate
from gym_gui.services.trainings.training_presets import TRAININGS, TrainingPreset
from gym_gui.ui import theme
from gym_gui.ui.agents.settings_form import LABEL_WIDTH, SettingsForm
from gym_gui.ui.context import AppContext
from gym_gui.ui.environments.environment_picker import EnvironmentPicker, catalog
from gym_gui.ui.environments.install_dialog import open_install_dialog
from gym_gui.ui.preset_menu import PresetMenu
from gym_gui.ui.train.link import LinkState, TrainerLink
from gym_gui.ui.train.run_numbers import RunNumbers
from gym_gui.ui.train.space_lookup import SpaceLookup
from gym_gui.ui.train.start_runs import start_runs
from gym_gui.ui.widgets import (
    FormRows,
    InlineMessage,
    LinkButton,
    PickerButton,
    PickerItem,
    PrimaryButton,
    QuietButton,
    label,
    section_label,
)
from gym_gui.ui.widgets.layouts import column_layout, row_layout

if TYPE_CHECKING:
    from gym_gui.envs import EnvSpec
    from gym_gui.services.trainer.trainer_client import TrainerClient
    from gym_gui.services.trainer.training_settings import AlgorithmSchema

FIRST_ENVIRONMENT: Final = "CartPole-v1"
FIRST_WORKER: Final = "cleanrl_worker"
FILM: Final = ("video_every", 50_000)
"""Setting and value that turn on videos for runs started in the window, since workers record none by
default.
"""


class NewRunForm(QWidget):
    """Form for new training runs, which checks every entry while the user types.

    Args:
        context: Provides workers and background tasks.
        link: Connection to the trainer, whose earlier runs are used to estimate the duration of a new run.
        parent: Qt owner.

    Attributes:
        foot: Widget with the Start button and the reason why it is disabled; belongs below the scrolled form.
    """

    started = pyqtSignal(object)
    """Emits a list of the ids of the started runs."""
    loaded = pyqtSignal()
    changed = pyqtSignal()
    """Emitted after each check of the form, such as after typing."""

    def __init__(self, context: AppContext, link: TrainerLink, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-new-run")
        self._context, self._link = context, link
        self._trainers: dict[str, Trainer] = {}
        self._specs: dict[str, EnvSpec] = {}
        self._base_items: list[PickerItem] = []
        self._loading: asyncio.Task[None] | None = None
        self._awaited: tuple[TrainingPreset, int | None] | None = None
        self._starting = False
        self._spaces = SpaceLookup(context, self)
        self._spaces.found.connect(self._on_spaces_found)
        self.settings: SettingsForm | None = None
        self._column = column_layout(self)
        self._column.addWidget(section_label("New run"))
        self._make_choices()
        self._make_rest()
        link.runs_changed.connect(self._show_estimate)
        link.state_changed.connect(self.check)
        self.check()

    # -- widgets -------------------------------------------------------------------------

    def _make_choices(self) -> None:
        rows = self._choices = FormRows(label_width=LABEL_WIDTH)
        self._worker = PickerButton(
            name="train-worker", placeholder="Searching…", search_hint="Search workers"
        )
        self._worker.chosen.connect(self._on_worker_chosen)
        rows.add_row("Worker", self._worker, tooltip="Library that trains the policy")
        self.algorithm = PickerButton(name="train-algorithm", search_hint="Search algorithms")
        self.algorithm.chosen.connect(self._on_algorithm_chosen)
        rows.add_row("Algorithm", self.algorithm, tooltip="Learning algorithm")
        self._environment = EnvironmentPicker(self._context, name="train-environment")
        self._environment.chosen.connect(self._on_environment_chosen)
        self._environment.installed.connect(self._on_installed)
        self._environment.set_items([PickerItem(FIRST_ENVIRONMENT, FIRST_ENVIRONMENT)])
        self._environment.set_value(FIRST_ENVIRONMENT)
        rows.add_row("Environment", self._environment, tooltip="Environment in which the policy learns")
        self._column.addWidget(rows)
        self._place = self._column.count()

    def _make_rest(self) -> None:
        self._numbers = RunNumbers()
        self._numbers.setObjectName("train-numbers")
        self._numbers.changed.connect(self.check)
        self._column.addWidget(self._numbers)
        self._estimate = InlineMessage("info", "", name="train-estimate")
        self._column.addWidget(self._estimate)
        self._presets = PresetMenu(self._context, TRAININGS, self.preset, self._to_be_saved, self)
        self._presets.loaded.connect(self._on_preset_loaded)
        self._presets_button = QuietButton("Presets", menu=self._presets, name="train-presets")
        self._presets_button.setToolTip("Save these settings under a name, or load saved settings")
        self.start = PrimaryButton("Start", name="train-start", on_click=self.submit)
        self._problem = label("", "error", wrap=True, name="train-problem")
        self._install = LinkButton("Install…", name="train-install", on_click=self._on_install)
        self._install.setToolTip("Install the missing packages")
        self.foot = QWidget()
        self.foot.setObjectName("train-foot")
        row = QHBoxLayout()
        row.addWidget(self._presets_button)
        row.addStretch(1)
        row.addWidget(self.start)
        foot = column_layout(self.foot, margin=(theme.PAGE, theme.ROW, theme.PAGE, theme.ROW))
        problem = row_layout()
        problem.addWidget(self._problem, 1)
        problem.addWidget(self._install, 0, Qt.AlignmentFlag.AlignTop)
        foot.addLayout(problem)
        foot.addLayout(row)

    # -- choices -------------------------------------------------------------------------

    def load(self) -> None:
        """Find workers and environments in the background, once, when the form is first needed."""
        if self._loading is None:
            self._loading = self._context.spawn(self._load(), "Searching for workers and environments")

    @property
    def ready(self) -> bool:
        """Whether workers have been found."""
        return bool(self._trainers)

    async def _load(self) -> None:
        self._trainers = await asyncio.to_thread(find_trainers)
        self._offer_workers()
        self._specs, self._base_items = await asyncio.to_thread(_environments)
        self._offer_environments()
        if self._awaited is not None:
            self.fill(*self._awaited)
        if not self._spaces.begun:
            self.choose_environment(str(self._environment.value))
        self.loaded.emit()
        self.check()

    def _offer_workers(self) -> None:
        items = [_worker_item(trainer) for trainer in self._trainers.values()]
        self._worker.set_items(items)
        if self._worker.value is None and items:
            ready = [i for i in items if not self._trainers[str(i.value)].reason]
            first = next((i for i in ready if i.value == FIRST_WORKER), [*ready, *items][0])
            self._choose_worker(str(first.value))

    def _offer_algorithms(self) -> None:
        trainer = self.trainer
        items: list[PickerItem] = []
        if trainer is not None:
            for name, schema in trainer.algorithms.items():
                reason = self._algorithm_reason(schema)
                words = f"{name} {schema.description}"
                items.append(PickerItem(name, trainer.title(name), reason=reason, keywords=words))
        self.algorithm.set_items(items)

    def _algorithm_reason(self, schema: AlgorithmSchema) -> str:
        """Return why an algorithm does not fit the chosen environment, or ``""``."""
        env_id = str(self._environment.value)
        spaces, spec = self._spaces.of(env_id), self._specs.get(env_id)
        return algorithm_reason(schema, spaces.action, spaces.observation, spec and spec.paradigm)

    def _offer_environments(self) -> None:
        trainer = self.trainer
        items = []
        for item in self._base_items:
            spec = self._specs.get(str(item.value))
            reason = item.reason
            if not reason and spec is not None and trainer is not None:
                reason = environment_reason(trainer, spec)
            items.append(PickerItem(item.value, item.label, item.detail, item.group, reason, item.keywords))
        self._environment.set_items(items)

    @property
    def trainer(self) -> Trainer | None:
        """Chosen worker with its algorithms, or ``None``."""
        return self._trainers.get(str(self._worker.value))

    # -- choosing ------------------------------------------------------------------------

    def _choose_worker(self, worker_id: str) -> None:
        self._worker.set_value(worker_id)
        trainer = self.trainer
        self._offer_algorithms()
        self._offer_environments()
        if trainer is not None and self.algorithm.value not in trainer.algorithms:
            self._choose_algorithm(next(iter(trainer.algorithms), ""))
        else:
            self._choose_algorithm(str(self.algorithm.value))

    def _choose_algorithm(self, name: str, settings: Mapping[str, Any] | None = None) -> None:
        self.algorithm.set_value(name or None)
        trainer = self.trainer
        schema = trainer.algorithms.get(name) if trainer is not None else None
        films = schema is not None and schema.defaults.get(FILM[0]) == 0
        self._make_settings(settings if settings is not None else dict([FILM]) if films else {})

    def choose_environment(self, env_id: str) -> None:
        """Choose an environment and look up the kinds of its action and observation spaces."""
        self._environment.set_value(env_id)
        self._spaces.look_up(env_id)
        self._offer_algorithms()

    def _make_settings(self, values: Mapping[str, Any]) -> None:
        """Build the settings form of the chosen algorithm, filled with ``values``."""
        trainer = self.trainer
        schema = trainer.algorithms.get(str(self.algorithm.value)) if trainer is not None else None
        before = self.settings
        if before is not None:
            before.hide()
            before.setParent(None)
            before.deleteLater()
        self.settings = SettingsForm(
            schema.settings if schema is not None else (),
            values,
            unknown=schema.unknown if schema is not None else None,
            parent=self,
        )
        self.settings.values_changed.connect(self.check)
        self._column.insertWidget(self._place, self.settings)
        self.check()

    def _on_spaces_found(self) -> None:
        self._offer_algorithms()
        self.check()

    # -- contents ------------------------------------------------------------------------

    def preset(self) -> TrainingPreset | None:
        """Return the contents of the form as a preset; ``None`` before anything was chosen.

        The result is also ``None`` while :meth:`fill` waits for the list of workers: the form then does not
        show
        the requested training yet.
        """
        if (
            self._awaited is not None
            or self.settings is None
            or self._environment.value is None
            or self.trainer is None
        ):
            return None
        return TrainingPreset(
            str(self._worker.value),
            str(self.algorithm.value),
            str(self._environment.value),
            self.settings.values(),
        )

    def fill(self, preset: TrainingPreset, seed: int | None = None) -> None:
        """Show a preset, or a run to repeat, as soon as the workers are found."""
        if not self.ready:
            self._awaited = preset, seed
            self.load()
            return
        self._awaited = None
        if preset.worker not in self._trainers:
            self._context.notify(
                f"The worker {preset.worker} is no longer available. Choose another worker", "warning"
            )
        else:
            self._worker.set_value(preset.worker)
            self._offer_environments()
        self._offer_algorithms()
        self._choose_algorithm(preset.algorithm, preset.settings)
        if preset.env_id != self._environment.value:
            self.choose_environment(preset.env_id)
        if seed is not None:
            self._numbers.seed.setText(str(seed))
        self.check()

    def _to_be_saved(self) -> tuple[bool, str]:
        preset = self.preset()
        name = f"{preset.algorithm} {preset.env_id}".replace("/", " ") if preset else ""
        return preset is not None, name

    def _on_preset_loaded(self, preset: object) -> None:
        assert isinstance(preset, TrainingPreset)
        self.fill(preset)

    def _on_worker_chosen(self, value: object) -> None:
        self._choose_worker(str(value))
        if missing_in(self._trainers[str(value)].reason):
            self._on_install()

    def _on_install(self) -> None:
        """Open the dialog that installs missing packages of the worker or the environment."""
        missing = missing_in(self._problem.text())
        if missing is not None:
            open_install_dialog(self._context, missing, self, self._environment.renew)

    def _on_installed(self) -> None:
        """Find workers and environments again after an installation; keep the choices."""
        self._spaces.renew()
        self._loading = self._context.spawn(self._load_again(), "Searching for workers and environments")

    async def _load_again(self) -> None:
        before = self.trainer
        await self._load()
        if before is not None and before.reason and self.trainer is not None and not self.trainer.reason:
            self._choose_worker(before.definition.type_id)  # Its algorithms can be read now.

    def _on_algorithm_chosen(self, value: object) -> None:
        kept = self.settings.values() if self.settings is not None else {}
        trainer = self.trainer
        schema = trainer.algorithms.get(str(value)) if trainer is not None else None
        shared = {k: v for k, v in kept.items() if schema is not None and k in schema.properties}
        self._choose_algorithm(str(value), shared)

    def _on_environment_chosen(self, value: object) -> None:
        self.choose_environment(str(value))
        self._match_agent_count()
        self.check()

    def _match_agent_count(self) -> None:
        """Choose an algorithm for the environment's number of agents, if the chosen algorithm does not
        fit.
        """
        trainer, spec = self.trainer, self._specs.get(str(self._environment.value))
        if trainer is None or spec is None:
            return
        chosen = trainer.algorithms.get(str(self.algorithm.value))
        if chosen is None or chosen.learns_for(spec.paradigm):
            return
        fitting = (name for name, each in trainer.algorithms.items() if each.learns_for(spec.paradigm))
        if (name := next(fitting, None)) is not None:
            self._on_algorithm_chosen(name)

    # -- checking ------------------------------------------------------------------------

    def check(self, *_: object) -> None:
        """Show the errors beside the fields, and enable Start if there are none."""
        numbers = self._numbers.problems()
        unfit = self._incompatibility()
        self._problem.setText(unfit)
        self._problem.setVisible(bool(unfit))
        self._install.setVisible(missing_in(unfit) is not None)
        settings = self.settings.problems if self.settings is not None else {}
        wrong = [*settings.values(), *numbers]
        reason = unfit or next(iter(wrong), "") or self._pending_reason()
        self.start.setEnabled(not reason)
        self.changed.emit()
        text, tip = self._numbers.start_words
        self.start.set_text(text)
        self.start.setToolTip(reason or tip)
        self._presets_button.setEnabled(self.trainer is not None)
        self._show_estimate()

    def _incompatibility(self) -> str:
        trainer, env_id = self.trainer, str(self._environment.value)
        if trainer is None:
            return ""
        if trainer.reason:
            return trainer.reason
        spec = self._specs.get(env_id)
        if self._specs and self._environment.value is not None and spec is None:
            trouble = self._spaces.of(env_id).trouble
            absent = f"The environment {env_id} is not available. Choose another environment."
            return trouble if missing_in(trouble) else absent
        if spec is not None and (reason := environment_reason(trainer, spec)):
            return f"{spec.id}: {reason}."
        name = str(self.algorithm.value)
        schema = trainer.algorithms.get(name)
        if schema is None:
            return f"{trainer.definition.display_name} has no algorithm {name}. Choose another algorithm."
        reason = self._algorithm_reason(schema)
        return f"{trainer.title(name)} is {reason}." if reason else self._spaces.of(env_id).trouble

    def _pending_reason(self) -> str:
        if self.trainer is None or self._environment.value is None:
            return "Workers and environments are being searched"
        if self._link.state is not LinkState.READY:
            return "The trainer is not connected yet"
        return "The run is starting" if self._starting else ""

    def _show_estimate(self) -> None:
        settings = self.settings
        steps = settings.effective("total_steps") if settings is not None else 0
        if settings is None or not isinstance(steps, int | float):
            self._estimate.hide()
            return
        judged = estimate(
            self._link.runs,
            worker=str(self._worker.value),
            algorithm=str(self.algorithm.value),
            env_id=str(self._environment.value),
            settings=settings.values(),
            total_steps=int(steps),
        )
        self._estimate.set_text(judged.sentence(self._numbers.count) + before_it(self._link.runs))
        self._estimate.show()

    # -- starting ------------------------------------------------------------------------

    def submit(self) -> None:
        """Start the runs that the form describes."""
        if self.start.isEnabled() and self._link.client is not None:
            self._starting = True
            self.check()
            task = self._context.spawn(self._submit(self._link.client), "Starting the training")
            task.add_done_callback(self._on_submitted)

    async def _submit(self, client: TrainerClient) -> None:
        preset = self.preset()
        assert preset is not None
        action = self._spaces.of(preset.env_id).action
        started: list[str] = []
        try:
            services = self._context.services
            async for run in start_runs(services, client, preset, action, self._numbers.titles):
                started.append(run)
        finally:
            if started:
                self.started.emit(started)

    def _on_submitted(self, _task: object) -> None:
        self._starting = False
        self.check()

    async def closed(self) -> None:
        """Cancel the search for workers and end the process that describes environments."""
        await end_task(self._loading)
        await self._spaces.close()


def _worker_item(trainer: Trainer) -> PickerItem:
    """Return the picker item of a worker; an absent worker is offered if it can be installed."""
    worker, absent = trainer.definition, missing_in(trainer.reason) is not None
    detail, reason = ("Install…", "") if absent else ("", trainer.reason)
    return PickerItem(worker.type_id, worker.display_name, detail, "", reason, worker.type_id)


def _environments() -> tuple[dict[str, EnvSpec], list[PickerItem]]:
    return {spec.id: spec for spec in envs.list_specs()}, list(catalog())
