"""What can be chosen before anything plays: environments, slots, settings, keys."""
