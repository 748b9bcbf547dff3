"""Commands that play: ``mosaic run`` and ``mosaic tournament``, here or on other machines."""
