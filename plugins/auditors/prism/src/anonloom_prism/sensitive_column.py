"""Which column is the sensitive one: the one that was named, or the only one of its role."""

from anonloom import Schema


def unclear(schema: Schema, named: str | None, purpose: str) -> str | None:
    """Say why the sensitive column is not clear, and what to name it for; or None."""
    roles = schema.names_with_role("sensitive")
    if named is not None or len(roles) == 1:
        return None
    listed = ", ".join(f"'{name}'" for name in roles)
    message = f"the role 'sensitive' has {listed}" if roles else "no column is sensitive"
    return f"{message}: name the one to {purpose} with 'sensitive'"


def sensitive_of(schema: Schema, named: str | None) -> str:
    """Return the sensitive column, if it is clear which it is."""
    return named or schema.names_with_role("sensitive")[0]
