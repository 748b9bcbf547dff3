"""Colors, shapes and small pictures that window and pages share; nothing here knows Qt."""
