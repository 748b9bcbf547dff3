"""The main window and what stands around its pages: rail, menus, palette, messages, log, status line."""
