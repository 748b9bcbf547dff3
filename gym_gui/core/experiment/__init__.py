"""Contents of an experiment: slots, rows of a matrix, seeds, budgets, tournaments. No file access."""
