operators = [
    {
        "id": "trained",
        "name": "Trained",
        "type": "rl",
        "worker_id": "cleanrl_worker",
        "env_name": "gymnasium",
        "task": "CartPole-v1",
        "settings": {"algorithm": "ppo", "policy_path": "policy"},
    },
    {
        "id": "pair",
        "env_name": "pettingzoo",
        "task": "connect_four_v3",
        "seats": "swap",
        "workers": {
            "player_0": {"type": "random"},
            "player_1": {"type": "baseline", "settings": {"behavior": "random"}},
        },
    },
]
execution = {"num_episodes": 2, "seeds": [3, 4], "max_steps": 12, "record": {"observations": True}}
