"""Tables of results as declared columns: one list for terminal, page, window and files."""
