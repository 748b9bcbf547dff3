"""Other machines on which operators run: the list of hosts, and the choice of an operator's host."""
