"""A worker with faults that its settings choose, for tests of a host."""
