"""Child processes of this program, each of which ends together with all processes that it has started."""
