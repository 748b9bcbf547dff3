"""Run folders: written, read, found, packed, queried."""
