"""CLIP models as agents, which play the action whose caption fits the picture best."""
