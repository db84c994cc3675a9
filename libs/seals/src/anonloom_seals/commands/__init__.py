"""`anonloom verify` and `anonloom prove`, one module each."""
