"""REINFORCE with a baseline: trained, kept, played."""
