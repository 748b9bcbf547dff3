"""Tours: a few steps on real data, each over when what it asks for has really happened."""
