"""What an agent saw, thought and did, decision by decision."""
