"""People in slots: turns keys and clicks into actions, and shows the observation of a seat."""
