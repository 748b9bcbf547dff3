"""Readers of experiment files: literal data in this process, programs in a separate one."""
