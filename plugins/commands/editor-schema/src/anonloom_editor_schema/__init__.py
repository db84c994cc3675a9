"""The command `anonloom schema`: a JSON schema of pipeline files, for editors."""
