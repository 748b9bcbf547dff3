"""A worker that misbehaves as told, for tests of a host."""
