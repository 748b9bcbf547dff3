"""Options of managers for each family: skills, each with the values of its parameters."""
