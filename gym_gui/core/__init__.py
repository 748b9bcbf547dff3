"""Basic types of the engine: records, errors, spaces, seeding and configuration. No file access."""
