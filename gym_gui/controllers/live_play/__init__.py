"""Live play of one operator while people watch: its session, its episodes and its statistics."""
