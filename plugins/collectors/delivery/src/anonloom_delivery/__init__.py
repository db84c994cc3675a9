"""Collector delivery: rows travel through a transport, and the stages run on what arrives."""
