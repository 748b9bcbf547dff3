"""XuanCe as a MOSAIC worker: trains teams, plays joint policies and imports XuanCe's files."""
