"""What flows through a pipeline: schema, table, axes, classes, release, findings."""
