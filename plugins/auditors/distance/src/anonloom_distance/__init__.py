"""Distance: how near published records lie to the persons of the original."""
