"""The chess engine Stockfish as a worker."""
