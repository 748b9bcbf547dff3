"""Settings that several workers have, each declared once: its title, its sentence, its bounds, its group.

A worker takes one under the name that its library gives it, and with its own default::

    lr: float = fields.learning_rate(5e-4)
    n_steps: int = fields.rollout_length(128)

What a library does otherwise is said where it is taken: ``fields.epochs(10, "Passes over each batch.")``.
"""

from __future__ import annotations

from typing import Any, Dict

from pydantic import Field

MAIN: Dict[str, Any] = {"x-group": "main"}
"""Marks the few settings that a form shows first."""


class Setting:
    """A setting, still without its name and its default.

    Args:
        title: Its label in forms.
        description: One sentence; then what special values mean.
        main: Whether forms show it first.
        bounds: ``ge``, ``gt``, ``le``, ``lt`` of a number, ``min_length``, ``max_length`` of a list.

    Attributes:
        title: Its label in forms.
    """

    def __init__(self, title: str, description: str, *, main: bool = False, **bounds: float) -> None:
        self.title = title
        self._said: Dict[str, Any] = {"title": title, "description": description, "main": main, **bounds}

    def __call__(self, default: Any, description: str = "", **otherwise: Any) -> Any:
        """The field of a pydantic model.

        Args:
            default: Its default there.
            description: Its sentence, where that is not the usual one.
            otherwise: Whatever else of it is not as usual; a bound of ``None`` is none.
        """
        said: Dict[str, Any] = {
            **self._said,
            **({"description": description} if description else {}),
            **otherwise,
        }
        return Field(default, json_schema_extra=MAIN if said.pop("main") else None, **said)


# -- every training ------------------------------------------------------------------------

environment = Setting(
    "Environment", "Gymnasium id of the environment (``package:Id-v0`` imports ``package`` first)."
)
team = Setting(
    "Environment",
    "An environment whose agents act at once, or module:factory of a PettingZoo ParallelEnv.",
)
seed = Setting(
    "Seed",
    "The one seed that environments, initialisation, sampling and shuffling derive from.",
    ge=0,
    lt=2**62,
)
total_steps = Setting(
    "Total steps",
    "Environment steps of the whole training, over all parallel environments.",
    main=True,
    ge=1,
)
num_envs = Setting(
    "Parallel environments",
    "Instances of the environment that are stepped together.",
    main=True,
    ge=1,
    le=1024,
)
discount = Setting(
    "Discount factor", "What a reward counts for each step that it comes later.", main=True, ge=0, le=1
)
learning_rate = Setting("Learning rate", "Step size of the optimizer.", main=True, gt=0, le=1)
anneal = Setting("Anneal the learning rate", "Let the learning rate fall linearly.")
gradient_norm = Setting("Max gradient norm", "Global norm to which gradients are clipped.", gt=0, le=1000)
normalize_observations = Setting(
    "Normalise observations",
    "Show vectors with mean 0 and variance 1; the statistics travel with the policy.",
)
normalize_rewards = Setting(
    "Normalise rewards", "Learn from rewards divided by the spread of the discounted return."
)
share_parameters = Setting(
    "Share parameters",
    "Agents that see and act alike have one network, and are told which of them they are; "
    "else each has its own.",
    main=True,
)

# -- networks ------------------------------------------------------------------------------

hidden = Setting("Hidden layer sizes", "Widths of the hidden layers.", max_length=16)
activation = Setting("Activation", "Between layers.")
lstm_size = Setting("LSTM size", "Numbers that the network remembers.", ge=1, le=8192)

# -- learning from rollouts ----------------------------------------------------------------

rollout_length = Setting(
    "Rollout length", "Steps of each environment between two updates.", ge=1, le=1_000_000
)
minibatches = Setting("Minibatches", "Parts of a rollout, one gradient step each.", ge=1)
minibatch_size = Setting("Minibatch size", "Steps of one gradient step.", ge=2, le=1_000_000)
epochs = Setting("Epochs", "Passes over each rollout.", ge=1, le=1000)
gae_lambda = Setting("GAE lambda", "Lambda of generalised advantage estimation.", ge=0, le=1)
clip_range = Setting(
    "Clip range", "How far the probability ratio may move before its gradient is cut.", gt=0, le=10
)
normalize_advantages = Setting("Normalise advantages", "Normalise advantages in each minibatch.")
entropy_weight = Setting("Entropy coefficient", "Weight of the entropy bonus.", main=True, ge=0, le=100)
value_weight = Setting("Value coefficient", "Weight of the value loss.", ge=0, le=100)
target_kl = Setting("Target KL", "Largest KL divergence of an update.", gt=0, le=100)

# -- learning from remembered steps --------------------------------------------------------

buffer_size = Setting(
    "Replay buffer size",
    "Steps that are remembered; the oldest make room for the newest.",
    ge=1,
    le=100_000_000,
)
learning_starts = Setting(
    "Learning starts", "Steps played before the first gradient step.", ge=0, le=100_000_000
)
train_frequency = Setting(
    "Train frequency", "Steps of each environment between two updates.", ge=1, le=1_000_000
)
tau = Setting(
    "Target update rate",
    "How much of the way the target networks go at each update; 1 copies the networks.",
    gt=0,
    le=1,
)
target_interval = Setting(
    "Target update interval",
    "Environment steps between two updates of the target network.",
    ge=1,
    le=100_000_000,
)
double_q = Setting("Double Q", "Choose and value the next action apart (van Hasselt et al. 2016).")

# -- exploring -----------------------------------------------------------------------------

first_epsilon = Setting("Initial epsilon", "Share of random actions at the start.", ge=0, le=1)
last_epsilon = Setting(
    "Final epsilon",
    "Share of random actions at the end, and where the policy is asked to sample.",
    ge=0,
    le=1,
)
exploration_fraction = Setting(
    "Exploration fraction",
    "Part of the training over which epsilon falls in a straight line.",
    main=True,
    gt=0,
    le=1,
)
exploration_steps = Setting("Exploration steps", "Steps over which epsilon falls in a straight line.", ge=1)
exploration_noise = Setting(
    "Exploration noise",
    "Standard deviation of the Gaussian noise on actions, where their bounds are -1 and 1.",
    main=True,
    ge=0,
    le=10,
)
target_noise = Setting(
    "Target noise", "Standard deviation of the noise that smooths the target's action.", ge=0, le=10
)
target_noise_limit = Setting("Target noise clip", "Largest noise on the target's action.", ge=0, le=10)
policy_delay = Setting("Policy delay", "Gradient steps of the critics for one of the actor.", ge=1, le=1000)
temperature = Setting(
    "Temperature",
    "Weight of the entropy: where it starts when it is tuned, else what it stays at.",
    gt=0,
    le=1000,
)
tune_temperature = Setting(
    "Tune the temperature", "Keep the entropy of the policy at minus the number of action components."
)
