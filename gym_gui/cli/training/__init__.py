"""``mosaic train`` and ``mosaic daemon``."""
