"""Text editor for programs, experiments, environments and policies, which marks errors at their lines."""
