"""Adam, stepped by torch's own function: its class loads torch's compiler, 1.4 s of every training's start.

Source: `Adam: A Method for Stochastic Optimization <https://arxiv.org/abs/1412.6980>`_, Kingma and Ba 2015.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""What is kept of each parameter, in torch's words: updates, and means of gradients and of their squares."""


class Adam:
    """Steps parameters down their gradients; bit for bit :class:`torch.optim.Adam`.

    Args:
        parameters: What is learnt; those without a gradient are left alone.
        lr: Learning rate.
        eps: Keeps quotients finite.
        fused: One call for all parameters.

    Attributes:
        lr: Learning rate of the next step.
    """

    def __init__(
        self, parameters: Iterable[nn.Parameter], lr: float, eps: float, *, fused: bool = False
    ) -> None:
        self._parameters = list(parameters)
        self.lr, self._eps, self._fused = lr, eps, fused
        self._moments: dict[int, dict[str, Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Take a step."""
        stepped = [(i, p, p.grad) for i, p in enumerate(self._parameters) if p.grad is not None]
        moments = [self._moments.get(i) or self._begin(i, p) for i, p, _ in stepped]
        adam(
            [parameter for _, parameter, _ in stepped],
            [gradient for _, _, gradient in stepped],
            [each["exp_avg"] for each in moments],
            [each["exp_avg_sq"] for each in moments],
            [],
            [each["step"] for each in moments],
            fused=self._fused or None,  # else torch chooses by the device
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.lr,
            weight_decay=0.0,
            eps=self._eps,
            maximize=False,
        )

    def state(self) -> Mapping[int, Mapping[str, Tensor]]:
        """Moments, by place of the parameter; of one that was never stepped, none."""
        return self._moments

    def restore(self, state: Mapping[int, Mapping[str, Tensor]]) -> None:
        """Take up what :meth:`state` gave."""
        self._moments = {i: self._placed(self._parameters[i], kept) for i, kept in state.items()}

    def _begin(self, index: int, parameter: nn.Parameter) -> dict[str, Tensor]:
        nothing = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        begun = {"step": torch.zeros(()), "exp_avg": nothing, "exp_avg_sq": nothing.clone()}
        self._moments[index] = self._placed(parameter, begun)
        return self._moments[index]

    def _placed(self, parameter: nn.Parameter, kept: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Where the parameter is; a count that is not read there stays where numbers are read."""
        where = dict.fromkeys(MOMENTS, parameter.device)
        where["step"] = parameter.device if self._fused else torch.device("cpu")
        return {name: kept[name].to(where[name]) for name in MOMENTS}
