"""Saying what a command did, when it cannot be undone any more."""

from anonloom._cli import complain, give_up_output


def print_done(text: str, done: str) -> None:
    """Print a summary; what was done stays done where it cannot be printed.

    An exit code that tells of failure would say that nothing was written.

    Parameters
    ----------
    text
        The summary.
    done
        What was done, in a few words: said on standard error where the summary is lost.
    """
    try:
        print(text, flush=True)
    except OSError as error:
        give_up_output()
        complain(f"{done}, but this could not be printed: {error.strerror}")
