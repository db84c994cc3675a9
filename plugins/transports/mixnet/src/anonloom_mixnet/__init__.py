"""Mixnet: a cascade of all servers over one batch of sealed packets."""
