"""Reading what packages say of their environments, and saying it to people."""
