"""The library of trained policies: listing, description, import, export and scores."""
