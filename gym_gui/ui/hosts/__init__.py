"""Other machines that operators run on: the list of hosts and an operator's choice."""
