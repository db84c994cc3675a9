"""level-order: rows in one good order, cut into classes by an exact dynamic programme."""
