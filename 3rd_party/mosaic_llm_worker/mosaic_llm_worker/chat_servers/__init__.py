"""Chat servers: what they are asked, over HTTP, at which pace, and what they answer."""
