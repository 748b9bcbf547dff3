"""Model-predictive control on MuJoCo as a worker."""
