"""Colors, shapes and small pictures that the window and report pages share; independent of Qt."""
