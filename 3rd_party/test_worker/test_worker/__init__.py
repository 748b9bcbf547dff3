"""A worker that misbehaves as told, for anyone who tests a host."""
