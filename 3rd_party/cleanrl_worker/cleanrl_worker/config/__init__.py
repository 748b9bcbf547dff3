"""Settings of trainings: one model per algorithm, read without torch."""
