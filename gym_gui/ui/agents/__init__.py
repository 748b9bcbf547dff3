"""Advanced configuration: who plays each slot of an environment, with checks during editing."""
