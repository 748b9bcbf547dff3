"""Sessions that are watched and played while they run, as Qt objects."""
