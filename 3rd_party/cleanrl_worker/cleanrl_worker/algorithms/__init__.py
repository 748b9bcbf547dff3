"""Learning algorithms, one module each, and modules that several algorithms share."""
