"""Names and words in messages: guesses at what was meant, lists, and strange characters."""

from collections.abc import Iterable


def closest(word: str, names: Iterable[str]) -> str | None:
    """Return the name that `word` most likely was meant to be, or None."""
    # Imported late: most commands never misspell anything.
    import difflib

    by_plain = {_plain(name): name for name in names}
    result = difflib.get_close_matches(_plain(word), list(by_plain), n=1, cutoff=0.6)
    return by_plain[result[0]] if result else None


def _plain(name: str) -> str:
    # 'kAnonymity', 'k_anonymity' and 'k-anonymity' differ in nothing that a reader hears.
    return name.lower().replace("_", "-").replace(" ", "-")


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return "did you mean 'name'?", or an empty text when nothing is near."""
    name = closest(word, names)
    return f"did you mean {name!r}?" if name else ""


def on_one_line(text: str) -> str:
    """Escape what could pass for lines of ours, or move the cursor, in words of somebody else."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def comma_list(names: Iterable[str]) -> str:
    """Return names in a row, or 'none'."""
    return ", ".join(names) or "none"
