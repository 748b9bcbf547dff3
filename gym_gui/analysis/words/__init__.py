"""Puts findings into sentences, numbers into readable form, and both into markup."""
