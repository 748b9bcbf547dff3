"""Creates the environments in which workers train, from a Gymnasium id or ``module:factory``."""

# Values returned by environments are untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Sequence


def make_environment(env_id: str, render_mode: Optional[str] = None) -> Any:
    """Create a Gymnasium environment.

    Args:
        env_id: An id of Gymnasium's registry; ``module:ID`` for an id that the module registers when it
            is imported; or ``module:factory`` for a function or class of the module.
        render_mode: Render mode for environments that take one; ``None`` for no rendering.

    Returns:
        A ``gymnasium.Env``. If it has ``action_masks()``, its info contains the legal actions.

    Raises:
        gymnasium.error.Error: There is no environment with this id.
        ImportError: The module, or a dependency of it, is not installed.
        ValueError: The factory does not return a Gymnasium environment.
    """
    import gymnasium

    from mosaic_worker.learning.mask_wrapper import masks_in_info

    # Not every environment accepts render_mode, so it is passed only if it is given.
    keywords: Dict[str, Any] = {} if render_mode is None else {"render_mode": render_mode}
    factory = _factory_of(env_id)
    if factory is None:
        return masks_in_info(gymnasium.make(env_id, **keywords))
    made = factory(**(keywords if _takes(factory, "render_mode") else {}))
    if not isinstance(made, gymnasium.Env):
        raise ValueError(f"{env_id} gave a {type(made).__name__}, not a Gymnasium environment")
    return masks_in_info(made)


def make_parallel_environment(env_id: str, render_mode: Optional[str] = None) -> Any:
    """Create an environment whose agents act simultaneously, with PettingZoo's Parallel interface.

    Args:
        env_id: ``module:factory`` for a function or class of the module; or a name that MOSAIC knows,
            whose package must then be installed beside the worker. In this case the agents have the
            names of slots.
        render_mode: Render mode for environments that take one; ``None`` for no rendering.

    Returns:
        A ``pettingzoo.ParallelEnv``, or an object with its interface. Its ``teams``, if it has any, are
        the agents that play together.

    Raises:
        ImportError: The module, or a dependency of it, is not installed.
        ValueError: There is no environment of this name, or its agents act one after the other.
    """
    keywords: Dict[str, Any] = {} if render_mode is None else {"render_mode": render_mode}
    factory = _factory_of(env_id)
    if factory is not None:
        made = factory(**(keywords if _takes(factory, "render_mode") else {}))
        if not (hasattr(made, "possible_agents") and callable(getattr(made, "observation_space", None))):
            raise ValueError(f"{env_id} gave a {type(made).__name__}, not a PettingZoo Parallel environment")
        return made
    return _of_mosaic("gym_gui.envs.parallel", "make_parallel", env_id, render_mode)


def open_learner_session(
    env_id: str, pool: Sequence[str], hold: Callable[[Path], Any], **keywords: Any
) -> Any:
    """Open a session of MOSAIC's engine in which a training controls one agent and the pool plays the others.

    Args:
        env_id: A name that MOSAIC knows, with MOSAIC installed beside the worker; or ``module:factory``.
        pool: Possible other players: folders of policies of any worker, tournament files, behavior names.
        hold: Makes a policy from its folder, for policies that the training process can play itself;
            returns ``None`` for others.
        keywords: Arguments of ``gym_gui.evaluation.learning.LearnerSession``.

    Returns:
        The session, and a list of the players of the pool.

    Raises:
        ImportError: MOSAIC, or a package that the environment needs, is not installed.
        ValueError: The environment does not exist, or a player of the pool cannot play in it.
    """
    return _of_mosaic("gym_gui.evaluation.learning", "open_session", env_id, pool, hold, **keywords)


def _of_mosaic(module: str, function: str, *arguments: Any, **keywords: Any) -> Any:
    """Call a function of MOSAIC and return its result; convert its errors to ``ValueError``."""
    errors: Any = mosaic_module("gym_gui.core.errors")
    try:
        return getattr(mosaic_module(module), function)(*arguments, **keywords)
    except errors.MosaicError as error:
        raise ValueError(str(error)) from error


def mosaic_module(name: str) -> Any:
    """Import a module of MOSAIC; if MOSAIC is not installed, import it from the folder that contains this
    package.

    The interpreter of a worker then imports only the package ``gym_gui``. It does not import the packages
    that are installed beside ``gym_gui``, because their versions differ from those of the interpreter.

    Raises: ImportError: MOSAIC, or a dependency of the module, is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != "gym_gui":
            raise
    package = mosaic_folder()
    if package is None:
        raise ModuleNotFoundError("MOSAIC is not installed beside this worker", name="gym_gui")
    spec = spec_from_file_location(
        "gym_gui", str(package / "__init__.py"), submodule_search_locations=[str(package)]
    )
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["gym_gui"] = module
    spec.loader.exec_module(module)
    return import_module(name)


def mosaic_folder() -> Optional[Path]:
    """Return the folder of ``gym_gui`` in the checkout or wheel that contains this file, or ``None``."""
    # Either a checkout, or `gym_gui` itself, which contains a copy of this package.
    around = Path(__file__).resolve().parents[3]
    package = around if around.name == "gym_gui" else around / "gym_gui"
    return package if (package / "__init__.py").is_file() else None


def _factory_of(env_id: str) -> Optional[Callable[..., Any]]:
    """Return the function or class that ``module:factory`` names; ``None`` if ``env_id`` is another id."""
    module, _, path = env_id.partition(":")
    if not path:
        return None
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else None


def _takes(factory: Callable[..., Any], name: str) -> bool:
    parameters = inspect.signature(factory).parameters
    return name in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())
