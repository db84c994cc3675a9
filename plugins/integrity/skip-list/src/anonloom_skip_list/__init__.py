"""Skip list: an authenticated list of rows that can be updated, with the proofs of a tree."""
