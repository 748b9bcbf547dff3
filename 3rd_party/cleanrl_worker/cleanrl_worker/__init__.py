"""Trains CleanRL-style algorithms, saves policies as safetensors and plays them in any slot."""
