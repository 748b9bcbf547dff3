"""Worker for a person: requests each action from the host, or plays a script."""
