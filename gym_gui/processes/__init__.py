"""Child processes of this program, each ended in time with everything that it has started."""
