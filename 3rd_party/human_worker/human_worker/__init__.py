"""Plays for a person: asks the host for each action, or follows a script."""
