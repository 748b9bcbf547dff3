"""Commands about what is kept: runs, policies, and what was allowed."""
