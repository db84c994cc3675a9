"""The command `anonloom new`: writes the folder of a new plugin."""
