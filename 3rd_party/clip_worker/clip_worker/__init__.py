"""CLIP models as agents: the action whose caption goes best with the picture."""
