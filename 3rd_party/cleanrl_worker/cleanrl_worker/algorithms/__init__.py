"""The algorithms, each a file of its own, and what those of one kind share."""
