"""Adapters for packages whose environments have interfaces of their own; each adapter needs its package."""
