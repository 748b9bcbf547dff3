"""Workers: their capabilities, discovery, and processes."""
