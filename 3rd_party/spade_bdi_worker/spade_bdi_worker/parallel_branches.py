"""Parallel branches of a plan (``!a |&| !b``): an intention for each branch, and a waiter that joins them."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from agentspeak.runtime import Intention


class Join:
    """Waiter of a plan whose branches run, with the interface of the interpreter's waiters.

    Args:
        stack: The intention that waits.
        branches: The intentions for which it waits.
        enough: ``all``, or ``any`` if the first branch that ends is enough.
    """

    event: Any = None
    until: Any = None

    def __init__(self, stack: Any, branches: Sequence[Any], enough: Callable[[Iterable[bool]], bool]) -> None:
        self.stack, self.branches, self.enough = stack, branches, enough
        self._frames = [branch[0] for branch in branches]

    def give_up(self, branch: Any) -> None:
        """Stop waiting for a branch."""
        at = next(at for at, each in enumerate(self.branches) if each is branch)
        self.branches = [*self.branches[:at], *self.branches[at + 1 :]]
        del self._frames[at]

    def poll(self, _: Any) -> bool:
        """Return whether enough branches ended; if so, add their variables to those of the plan."""
        if not self.enough(not branch for branch in self.branches):
            return False
        waiting = self.stack[-1]
        for branch, frame in zip(self.branches, self._frames, strict=True):
            if branch:
                branch.clear()  # a branch that is no longer needed
                continue
            for variable, value in frame.scope.items():
                if variable not in waiting.scope:
                    waiting.scope[variable] = value
                    waiting.stack.append(variable)
        return True


def fork(heads: Sequence[Any], enough: Callable[[Iterable[bool]], bool], agent: Any, intention: Any) -> bool:
    """Start the branches of a plan; this is an instruction of the interpreter."""
    stack = next(each for each in agent.intentions if each and each[-1] is intention)
    branches: list[Any] = []
    for head in heads:
        frame: Any = Intention()
        frame.instr, frame.scope = head, dict(intention.scope)
        frame.head_term, frame.goal, frame.plan = intention.head_term, intention.goal, intention.plan
        frame.is_goal, frame.atomic, frame.outer = False, intention.atomic, intention.outer
        branches.append(collections.deque([frame]))
    intention.waiter = join = Join(stack, branches, enough)
    for branch in branches:
        branch[0].join = join
    agent.intentions.extend(branches)
    return True
