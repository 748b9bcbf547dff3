"""Forms that set who plays an operator's slots, for one agent or several."""
