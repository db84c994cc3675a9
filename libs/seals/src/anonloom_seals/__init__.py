"""What integrity schemes share: rows as bytes, signed heads, proofs of rows and ranges."""
