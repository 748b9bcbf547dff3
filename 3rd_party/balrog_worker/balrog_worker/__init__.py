"""Worker that plays MOSAIC's slots with BALROG's agents."""
