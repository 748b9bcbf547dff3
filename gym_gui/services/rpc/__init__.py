"""gRPC between MOSAIC's processes, on a private Unix socket or TCP, with a token."""
