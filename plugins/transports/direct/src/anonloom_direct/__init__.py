"""Direct: the transport that hides nothing, to compare all others with."""
