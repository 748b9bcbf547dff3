"""Worker types: their capabilities, discovery, settings and processes."""
