"""Settings of workers and trainings: declared by JSON Schema, checked, read and written as text."""
