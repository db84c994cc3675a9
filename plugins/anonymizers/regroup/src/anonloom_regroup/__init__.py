"""regroup: rows that fit their class badly go where the table as a whole loses less."""
