"""Workers: what they can do, where they are found, how their processes live."""
