"""Sessions in their own process: starts the workers of an operator and fills its slots."""
