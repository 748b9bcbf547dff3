"""Advanced configuration: who plays each slot of an environment, checked as it is written."""
