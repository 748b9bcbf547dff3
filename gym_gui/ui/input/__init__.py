"""What people do with their hands: keys and who has them, mouse, and actions put together in a form."""
