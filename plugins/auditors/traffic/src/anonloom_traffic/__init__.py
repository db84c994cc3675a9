"""Traffic: what the network and all servers but one learn about who sent what."""
