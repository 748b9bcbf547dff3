"""Worker that plays by model-predictive control on MuJoCo."""
