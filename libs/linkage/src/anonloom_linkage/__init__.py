"""What linkage auditors share: paired columns, blocking, vectors, exact search, bootstrap."""
