"""BALROG's agents in our slots."""
