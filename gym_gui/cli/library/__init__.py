"""Commands on stored things: runs, policies, and permissions."""
