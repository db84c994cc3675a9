"""How plugins are found, loaded, kept apart and told what happens."""
