"""Full-domain recoding: one level of every hierarchy, for the whole table or for what is left."""
