"""The engine: steps the episodes of one operator, and writes down what was played."""
