"""Who plays an operator's slots, as forms: one slot, or several."""
