"""Finds an environment's ``action_masks`` method, as in sb3-contrib's ``ActionMasker``.

Source:
    https://sb3-contrib.readthedocs.io/en/master/modules/ppo_mask.html: ``action_masks()`` has no arguments
    and returns which actions are legal now. The environment or any wrapper around it may define it.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Optional

METHOD = "action_masks"


def mask_method(env: Any) -> Optional[Callable[[], Any]]:
    """Return the method ``action_masks`` of an environment or of one of its wrappers, or ``None``.

    A method of that name that needs arguments has another meaning and is ignored.
    """
    get = getattr(env, "get_wrapper_attr", None)
    try:
        # Gymnasium's wrappers do not forward attributes, so get_wrapper_attr is used.
        found: Any = getattr(env, METHOD) if get is None else get(METHOD)
        needed = [
            each
            for each in inspect.signature(found).parameters.values()
            if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        ]
    except (AttributeError, TypeError, ValueError):
        return None
    return None if needed else found
