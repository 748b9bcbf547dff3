"""What an experiment asks for: slots, rows of a matrix, seeds, budgets, tournaments. No I/O."""
