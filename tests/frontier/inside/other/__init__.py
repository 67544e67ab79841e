"""Another project."""
