"""Adapters for packages whose environments have their own interface; each needs its package."""
