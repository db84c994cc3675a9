"""Shadow releases: a pipeline run with and without people, and what that tells about them."""
