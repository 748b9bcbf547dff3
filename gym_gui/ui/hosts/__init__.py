"""Other machines that operators run on: their list, and which one an operator has."""
