"""OKA: one-pass k-means with an adjustment of sizes, as a partitioner."""
