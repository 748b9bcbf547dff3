"""Main window and the parts around its pages: rail, menus, palette, messages, log and status line."""
