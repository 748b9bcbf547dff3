"""Legal actions that an environment tells by a method, as sb3-contrib's ``ActionMasker`` has it.

Source:
    https://sb3-contrib.readthedocs.io/en/master/modules/ppo_mask.html: ``action_masks()`` takes nothing and
    returns which actions are legal now. It may stand on the environment or on any wrapper around it.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Optional

METHOD = "action_masks"


def mask_method(env: Any) -> Optional[Callable[[], Any]]:
    """The ``action_masks`` of an environment or of one of its wrappers; ``None`` where there is none.

    A method of that name that needs arguments is something else, and is passed over.
    """
    get = getattr(env, "get_wrapper_attr", None)
    try:
        # Gymnasium's wrappers do not pass names on: they are asked for what they wrap.
        found: Any = getattr(env, METHOD) if get is None else get(METHOD)
        needed = [
            each
            for each in inspect.signature(found).parameters.values()
            if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        ]
    except (AttributeError, TypeError, ValueError):
        return None
    return None if needed else found
