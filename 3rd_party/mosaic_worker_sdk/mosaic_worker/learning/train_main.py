"""Program of a training: ``python -m WORKER.train``, named by ``[train] entry`` of a worker's manifest.

Standard output is for the user; programs read the files of the run folder, see :mod:`mosaic_worker.training`.
Exit status 0: trained. 1: failed during the training. 2: an error in the command, which one line describes.
130: stopped by a request, by Ctrl-C or because the reader of the output ended. In every case the last
checkpoint stays.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, Mapping, Optional, Sequence, Tuple, TypeVar

from mosaic_worker.learning.training_arguments import Algorithm, Arguments, HelpRequested, out_of, parse
from mosaic_worker.learning.training_command import (
    ConfigError,
    carried_out,
    default_folder,
    prepared,
    refuse,
)
from mosaic_worker.training import TrainingRun

_Algorithm = TypeVar("_Algorithm", bound=Algorithm)


@dataclass(frozen=True)
class TrainMain(Generic[_Algorithm]):
    """Callable that a worker's ``train`` module uses as its ``main``.

    It calls ``train(algorithm, settings, run, restored)`` of the package's ``training`` module. That function
    trains until the end or until a stop is requested, and returns whether all was done, including the
    evaluation. ``restored`` is the state of a training that is continued, else ``None``. The module is
    imported after the cheap checks, because torch takes seconds to import.

    Attributes:
        package: The worker's package.
        algorithms: Available algorithms by name.
        first: Name of the default algorithm.
    """

    package: str
    algorithms: Mapping[str, _Algorithm]
    first: str = "ppo"

    def __call__(self, argv: Optional[Sequence[str]] = None) -> int:
        """Parse the command line, train, and report.

        Args:
            argv: Arguments of the command line; ``None`` for those of the process.

        Returns:
            The exit status.
        """
        args = sys.argv[1:] if argv is None else list(argv)
        try:
            asked = parse(args, self.algorithms, f"{self.package}.train", self.first)
            config, restored = _settings(asked)
            out = asked.out or default_folder(asked.algorithm.name, config.env_id, config.seed)
            with prepared(out, resume=asked.resume, overwrite=asked.overwrite) as folder:
                run = TrainingRun(folder, sys.stdout, asked.checkpoint_every)
                with closing(run), run.stop_on_signals():
                    return carried_out(run, lambda: self._train(asked.algorithm, config, run, restored))
        except HelpRequested as text:
            print(text)
            return 0
        except ConfigError as error:
            refuse(out_of(args), str(error))
            return 2
        except KeyboardInterrupt:
            return 130

    def _train(self, algorithm: _Algorithm, config: Any, run: TrainingRun, restored: Any) -> bool:
        training = importlib.import_module(f"{self.package}.training")
        return bool(training.train(algorithm, config, run, restored))


def _settings(asked: Arguments[_Algorithm]) -> Tuple[Any, Any]:
    """Return all settings, and the saved state if the training is to be continued (else ``None``)."""
    config_class = asked.algorithm.config_class
    if not asked.resume:
        return config_class(**asked.given), None
    if asked.out is None:
        raise ConfigError("--resume needs --out: the folder of the training to continue")
    # Imported after the cheap checks, because torch takes seconds to import.
    from mosaic_worker.learning.training_state import read_state

    restored = read_state(asked.out, asked.algorithm.name)
    before = restored.config
    config = config_class(**{**before, **asked.given})
    # Compare settings as they are typed, because a value may be given as text.
    now = config.model_dump(mode="json")
    for name in asked.given:
        if name not in config_class.RESUMABLE and now[name] != before.get(name):
            raise ConfigError(
                f"a resumed training keeps its settings, but {name} was {before.get(name)!r}, not "
                f"{now[name]!r}. Leave it out, or start a new training in another folder"
            )
    if restored.step >= config.total_steps:
        raise ConfigError(
            f"the training already has its {restored.step:,} steps; raise total_steps to continue it"
        )
    return config, restored
