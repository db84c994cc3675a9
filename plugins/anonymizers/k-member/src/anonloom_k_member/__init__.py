"""k-member: greedy clusters of k rows, each grown by the row that costs it least."""
