"""What managers can ask for, by family: skills with the values of their parameters."""
