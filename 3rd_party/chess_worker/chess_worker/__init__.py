"""Language models at the chess board: a dialogue for every move."""
