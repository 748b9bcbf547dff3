"""What makes environments of packages that have an interface of their own; each needs its package."""
