"""The engine: steps the episodes of one operator and writes their records."""
