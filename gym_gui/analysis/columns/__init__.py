"""Declares the columns of result tables, which terminal, page, window and files share."""
