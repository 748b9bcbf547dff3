"""Sessions that play in the current process: start an operator's workers and bind its slots to them."""
