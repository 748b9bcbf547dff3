"""Our Adam steps as torch's does, and goes on from what it had kept."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from cleanrl_worker.algorithms.adam import Adam


def gradients(step: int, parameters: list[nn.Parameter]) -> list[Tensor | None]:
    """Of the last parameter there is none before the third step."""
    draw = torch.Generator().manual_seed(step)
    drawn = [torch.randn(parameter.shape, generator=draw) for parameter in parameters]
    return [*drawn[:-1], drawn[-1] if step > 1 else None]


@pytest.mark.parametrize("fused", [False, True])
def test_it_steps_as_torchs_does_bit_for_bit(fused: bool) -> None:
    ours, theirs, resumed = ([nn.Parameter(torch.ones(shape)) for shape in ((3, 2), (4,), ())] for _ in "123")
    adam = Adam(ours, 0.01, 1e-5, fused=fused)
    torchs = torch.optim.Adam(theirs, lr=0.01, eps=1e-5, fused=fused)
    for step in range(6):
        adam.lr = torchs.param_groups[0]["lr"] = 0.01 / (step + 1)
        for parameters in (ours, theirs):
            for parameter, gradient in zip(parameters, gradients(step, parameters), strict=True):
                parameter.grad = gradient
        adam.step()
        torchs.step()
        assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))
        if step == 3:
            with torch.no_grad():
                for parameter, there in zip(resumed, ours, strict=True):
                    parameter.copy_(there)
            kept = {i: {k: v.clone() for k, v in moments.items()} for i, moments in adam.state().items()}
    assert {i: set(moments) for i, moments in kept.items()} == {
        i: set(moments) for i, moments in torchs.state_dict()["state"].items()
    }

    again = Adam(resumed, 0.01, 1e-5, fused=fused)
    again.restore(kept)
    for step in (4, 5):
        again.lr = 0.01 / (step + 1)
        for parameter, gradient in zip(resumed, gradients(step, resumed), strict=True):
            parameter.grad = gradient
        again.step()
    assert all(torch.equal(one, other) for one, other in zip(resumed, ours, strict=True))
    again.zero_grad()
    assert all(parameter.grad is None for parameter in resumed)
