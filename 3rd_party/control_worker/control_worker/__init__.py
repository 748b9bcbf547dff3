"""Classical control as a worker."""
