"""Declares the settings that several workers share: title, description, bounds and group of each.

A worker declares such a setting under the name that its library uses, with its own default::

    lr: float = fields.learning_rate(5e-4)
    n_steps: int = fields.rollout_length(128)

A call may also replace the description: ``fields.epochs(10, "Passes over each batch.")``.
"""

from __future__ import annotations

from typing import Any, Dict

from pydantic import Field

MAIN: Dict[str, Any] = {"x-group": "main"}
"""Schema entry of the few settings that a form shows first."""


class Setting:
    """A setting of training algorithms without its name and default.

    Args:
        title: Label of the setting in forms.
        description: One sentence; then what special values mean.
        main: Whether forms show the setting first.
        bounds: ``ge``, ``gt``, ``le``, ``lt`` of a number, ``min_length``, ``max_length`` of a list.

    Attributes:
        title: Label of the setting in forms.
    """

    def __init__(self, title: str, description: str, *, main: bool = False, **bounds: float) -> None:
        self.title = title
        self._properties: Dict[str, Any] = {
            "title": title,
            "description": description,
            "main": main,
            **bounds,
        }

    def __call__(self, default: Any, description: str = "", **otherwise: Any) -> Any:
        """Return the setting as a field of a pydantic model.

        Args:
            default: Default value in this model.
            description: Description in this model; by default the description of the setting.
            otherwise: Other properties that differ in this model; ``None`` removes a bound.
        """
        said: Dict[str, Any] = {
            **self._properties,
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
    "Id of an environment whose agents act simultaneously, or module:factory of a PettingZoo ParallelEnv.",
)
seed = Setting(
    "Seed",
    "Seed of the environments, of initialization, sampling and shuffling.",
    ge=0,
    lt=2**62,
)
total_steps = Setting(
    "Total steps",
    "Environment steps of the whole training, summed over all parallel environments.",
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
    "Discount factor",
    "Factor by which each step of delay multiplies the weight of a reward.",
    main=True,
    ge=0,
    le=1,
)
learning_rate = Setting("Learning rate", "Step size of the optimizer.", main=True, gt=0, le=1)
anneal = Setting("Anneal the learning rate", "Decrease the learning rate linearly to 0.")
gradient_norm = Setting("Max gradient norm", "Global norm to which gradients are clipped.", gt=0, le=1000)
normalize_observations = Setting(
    "Normalize observations",
    "Scale observations to mean 0 and variance 1; the statistics are saved with the policy.",
)
normalize_rewards = Setting(
    "Normalize rewards", "Divide rewards by the standard deviation of the discounted return."
)
share_parameters = Setting(
    "Share parameters",
    "Agents with equal spaces share one network, whose input includes the agent's index; "
    "otherwise each agent has its own.",
    main=True,
)

# -- networks ------------------------------------------------------------------------------

hidden = Setting("Hidden layer sizes", "Widths of the hidden layers.", max_length=16)
activation = Setting("Activation", "Activation function between layers.")
lstm_size = Setting("LSTM size", "Size of the LSTM's hidden state.", ge=1, le=8192)

# -- learning from rollouts ----------------------------------------------------------------

rollout_length = Setting(
    "Rollout length", "Steps of each environment between two updates.", ge=1, le=1_000_000
)
minibatches = Setting("Minibatches", "Number of minibatches of a rollout, with one gradient step each.", ge=1)
minibatch_size = Setting("Minibatch size", "Environment steps in one gradient step.", ge=2, le=1_000_000)
epochs = Setting("Epochs", "Passes over each rollout.", ge=1, le=1000)
gae_lambda = Setting("GAE lambda", "Lambda of generalized advantage estimation.", ge=0, le=1)
clip_range = Setting(
    "Clip range", "Largest change of the probability ratio before its gradient is cut off.", gt=0, le=10
)
normalize_advantages = Setting("Normalize advantages", "Normalize advantages in each minibatch.")
entropy_weight = Setting("Entropy coefficient", "Weight of the entropy bonus.", main=True, ge=0, le=100)
value_weight = Setting("Value coefficient", "Weight of the value loss.", ge=0, le=100)
target_kl = Setting("Target KL", "Largest KL divergence of an update.", gt=0, le=100)

# -- learning from remembered steps --------------------------------------------------------

buffer_size = Setting(
    "Replay buffer size",
    "Number of steps in the buffer; new steps replace the oldest.",
    ge=1,
    le=100_000_000,
)
learning_starts = Setting(
    "Learning starts", "Environment steps before the first gradient step.", ge=0, le=100_000_000
)
train_frequency = Setting(
    "Train frequency", "Steps of each environment between two updates.", ge=1, le=1_000_000
)
tau = Setting(
    "Target update rate",
    "Fraction by which target networks move to the trained networks at each update; 1 copies them.",
    gt=0,
    le=1,
)
target_interval = Setting(
    "Target update interval",
    "Environment steps between two updates of the target network.",
    ge=1,
    le=100_000_000,
)
double_q = Setting(
    "Double Q", "Use separate networks to choose and to value the next action (van Hasselt et al. 2016)."
)

# -- exploring -----------------------------------------------------------------------------

first_epsilon = Setting("Initial epsilon", "Share of random actions at the start.", ge=0, le=1)
last_epsilon = Setting(
    "Final epsilon",
    "Share of random actions at the end of the training, and when a slot samples actions.",
    ge=0,
    le=1,
)
exploration_fraction = Setting(
    "Exploration fraction",
    "Share of the training over which epsilon falls linearly.",
    main=True,
    gt=0,
    le=1,
)
exploration_steps = Setting("Exploration steps", "Steps over which epsilon falls linearly.", ge=1)
exploration_noise = Setting(
    "Exploration noise",
    "Standard deviation of the Gaussian noise on actions scaled to [-1, 1].",
    main=True,
    ge=0,
    le=10,
)
target_noise = Setting(
    "Target noise", "Standard deviation of the noise that smooths the target's action.", ge=0, le=10
)
target_noise_limit = Setting("Target noise clip", "Largest noise on the target's action.", ge=0, le=10)
policy_delay = Setting(
    "Policy delay", "Gradient steps of the critics per gradient step of the actor.", ge=1, le=1000
)
temperature = Setting(
    "Temperature",
    "Weight of the entropy; the initial weight if the temperature is tuned.",
    gt=0,
    le=1000,
)
tune_temperature = Setting(
    "Tune the temperature",
    "Adapt the temperature so that the policy's entropy is minus the number of action components.",
)
