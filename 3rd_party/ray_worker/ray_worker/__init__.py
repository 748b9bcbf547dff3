"""Ray RLlib as a worker: trains with its new API stack, plays and takes over what came out."""
