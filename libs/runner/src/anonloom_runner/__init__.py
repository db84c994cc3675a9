"""Anonloom's engine in one process, and the parts of it that commands and other engines use.

Nothing is imported here, so that naming the engine costs nothing. Every module says by ``__all__``
which of its names are for others.
"""

__all__ = [
    "atomic_file",
    "attack_report",
    "auditing",
    "changes",
    "check",
    "collection",
    "conditions",
    "declared",
    "engine",
    "execute",
    "exposed_groups",
    "exposure",
    "external",
    "findings_text",
    "hand_over",
    "headline",
    "identifier_shapes",
    "key_findings",
    "lookalikes",
    "outputs",
    "persons",
    "provenance",
    "published_cells",
    "reporting",
    "sanitize",
    "stage_log",
    "stages",
    "suppression",
    "table_files",
    "transformation",
    "unit",
    "verdict",
]
