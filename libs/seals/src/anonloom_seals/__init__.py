"""What integrity schemes share: rows as bytes, signed heads, proofs of rows and ranges.

The modules named here are public, each with what its own `__all__` names; they are not imported
with the package, because its commands are registered without them.
"""

__all__ = [
    "answers",
    "binding",
    "condition",
    "encoding",
    "folder",
    "head",
    "keys",
    "layout",
    "listing",
    "parts",
    "proof",
    "proof_file",
    "published_rows",
    "ranges",
    "salts",
    "seal",
    "seal_format",
    "sealed_folder",
    "signed_text",
    "structure",
    "verification",
    "versions",
]
