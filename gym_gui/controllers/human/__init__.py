"""People in slots: keys and clicks as actions, and what a seat sees."""
