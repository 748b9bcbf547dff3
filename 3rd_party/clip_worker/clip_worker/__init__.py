"""Worker that plays the action whose caption fits the image best, by a CLIP model."""
