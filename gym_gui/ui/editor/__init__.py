"""File editor for programs, experiments, environments and policies, with mistakes at their lines."""
