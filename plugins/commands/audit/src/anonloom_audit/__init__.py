"""`anonloom audit`: measure a release against its original, whoever made it."""
