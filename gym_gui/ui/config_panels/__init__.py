"""Forms of the inspector that set the players of an operator's slots."""
