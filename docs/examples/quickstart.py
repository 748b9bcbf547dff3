"""Two questions, answered on shared seeds, each agent in a process of its own.

1. CartPole: is a trained PPO policy better than random actions, and than doing nothing?
2. Soccer, two against two: does one agent that chases the ball win for its team, with a
   random team-mate, against two random agents? Every seed is played twice, seats swapped.

Run it with `mosaic run docs/examples/quickstart.py`.
"""

from importlib.util import find_spec

cartpole = {"env_name": "gymnasium", "task": "CartPole-v1"}
soccer = {"env_name": "multigrid", "task": "MosaicMultiGrid-S-2v2-IndAgObs-v1"}
chaser = {"type": "baseline", "settings": {"behavior": "soccer_chaser"}}
random = {"type": "random"}

operators = [
    {
        "id": "ppo",
        "name": "PPO",
        **cartpole,
        "workers": {"agent": {"type": "rl", "algorithm": "ppo", "policy_path": "checkpoints/ppo_cartpole"}},
    },
    {"id": "random", "name": "Random", **cartpole, "workers": {"agent": random}},
    {"id": "passive", "name": "Passive", **cartpole, "workers": {"agent": {"type": "passive"}}},
    {
        "id": "soccer",
        "name": "Chaser + random vs 2 random",
        **soccer,
        "seats": "swap",
        "workers": {"green_0": chaser, "green_1": random, "blue_0": random, "blue_1": random},
    },
]
if find_spec("torch") is None:  # set up where there is no PyTorch, which the trained policy needs
    operators = [operator for operator in operators if operator["id"] != "ppo"]
execution = {"num_episodes": 20, "seeds": range(20)}
