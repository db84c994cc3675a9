"""The kinds of method that a pipeline is made of: one small module per kind."""
