"""Plays an operator live while people watch: its session, its episodes and its statistics."""
