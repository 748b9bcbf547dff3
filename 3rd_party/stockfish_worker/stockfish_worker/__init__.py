"""Worker that plays the moves of the chess engine Stockfish."""
