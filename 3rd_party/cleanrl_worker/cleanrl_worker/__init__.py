"""CleanRL-style PPO: train a policy, keep it as safetensors, play it in any slot."""
