"""From a pipeline file to a checked pipeline, with all problems at once."""
