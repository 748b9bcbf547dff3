"""Parts of the Train page: runs, curves, the policy as it plays now, the form of a new run."""
