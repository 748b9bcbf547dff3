"""The main window and the widgets around its pages: rail, menus, palette, messages, log, status line."""
