"""What users choose before anything plays: environments, players, settings and keys."""
