"""Running engines inside one process: entropy, clock, network with faults, trace."""
