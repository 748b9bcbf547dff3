"""Settings of workers and trainings: declared with JSON Schema, checked, read and written as text."""
