"""What a file may name by itself, what a person has to allow first, and what was allowed."""
