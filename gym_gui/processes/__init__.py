"""Programs that this one starts: each ended, with everything it has started, when its time has come."""
