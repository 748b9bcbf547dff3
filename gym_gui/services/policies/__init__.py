"""The library of trained policies: kept, described, imported, scored."""
