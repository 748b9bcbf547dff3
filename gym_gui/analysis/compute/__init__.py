"""From what runs recorded to what a report says of it."""
