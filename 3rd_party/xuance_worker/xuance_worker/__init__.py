"""XuanCe as a MOSAIC worker: teams that learn together, joint policies, import of its files."""
