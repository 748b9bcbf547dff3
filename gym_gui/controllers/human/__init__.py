"""People in slots: convert keys and clicks into actions, and show the observation of a seat."""
