"""Marketing: simulated advertising touchpoints, for experiments with known truth."""
