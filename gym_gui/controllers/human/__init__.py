"""People in slots: turns keys and clicks into actions, and shows what a seat sees."""
