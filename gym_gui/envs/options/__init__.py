"""Options of managers for each family: skills with the values of their parameters."""
