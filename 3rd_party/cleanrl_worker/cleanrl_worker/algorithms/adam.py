"""Adam optimizer by torch's function, because torch's class adds 1.4 s to the start of every training.

The class imports torch's compiler.

Source: `Adam: A Method for Stochastic Optimization <https://arxiv.org/abs/1412.6980>`_, Kingma and Ba 2015.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""Names of each parameter's state, as in torch: updates, means of gradients and of their squares."""


class Adam:
    """Optimizer whose steps equal those of :class:`torch.optim.Adam` bit for bit.

    Args:
        parameters: Parameters to learn; those without a gradient are not changed.
        lr: Learning rate.
        eps: Term that keeps denominators away from zero.
        fused: Whether one call updates all parameters.

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
        """Delete the gradients of all parameters."""
        for parameter in self._parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters with their gradients."""
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
        """Return the moments by index of the parameter; a parameter without updates has none."""
        return self._moments

    def restore(self, state: Mapping[int, Mapping[str, Tensor]]) -> None:
        """Restore a result of :meth:`state`."""
        self._moments = {i: self._placed(self._parameters[i], kept) for i, kept in state.items()}

    def _begin(self, index: int, parameter: nn.Parameter) -> dict[str, Tensor]:
        nothing = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        begun = {"step": torch.zeros(()), "exp_avg": nothing, "exp_avg_sq": nothing.clone()}
        self._moments[index] = self._placed(parameter, begun)
        return self._moments[index]

    def _placed(self, parameter: nn.Parameter, kept: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Move moments to the parameter's device; without ``fused``, the step count stays on the CPU."""
        where = dict.fromkeys(MOMENTS, parameter.device)
        where["step"] = parameter.device if self._fused else torch.device("cpu")
        return {name: kept[name].to(where[name]) for name in MOMENTS}
