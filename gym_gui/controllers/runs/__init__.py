"""An experiment, from what was asked for to what was played."""
