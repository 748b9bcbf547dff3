"""How one process of ours serves another: gRPC on a private Unix socket or TCP, and a token."""
