"""Run folders: writing, reading, finding, packing and querying."""
