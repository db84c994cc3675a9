"""The worked example or the claims of the paper, with the numbers of its tables."""


def test_worked_example() -> None:
    """Name the table or figure that this reproduces."""
    raise NotImplementedError("write the paper's worked example, with the number of its table")
