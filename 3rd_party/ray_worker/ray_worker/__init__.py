"""Ray RLlib as a MOSAIC worker: trains with RLlib's new API stack, and plays and imports policies."""
