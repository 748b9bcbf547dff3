"""The Agents page: which policy plays each slot of an environment, checked while the user edits."""
