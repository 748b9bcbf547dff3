"""Reports, transcripts and films as HTML, and as a notebook shows them."""
