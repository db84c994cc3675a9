"""What this distribution offers: the samplers `stratified`, `simple-random` and `pre-sample`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_samplers() -> list[Method]:
    """Name the samplers."""
    return [
        Method(
            name="stratified",
            target="anonloom_sampling.samplers:StratifiedSampler",
            summary="Draws the same share, or number of rows, from every class, or leaves it out.",
            paper="J. Neyman: On the Two Different Aspects of the Representative Method. Journal "
            "of the Royal Statistical Society 97(4), 1934",
            reads=frozenset(),
        ),
        Method(
            name="simple-random",
            target="anonloom_sampling.samplers:SimpleRandomSampler",
            summary="Draws a share of all rows, whatever their class.",
            reads=frozenset(),
        ),
        Method(
            name="pre-sample",
            target="anonloom_sampling.samplers:PreSampler",
            summary="Draws rows before there are classes, to thin out a large table.",
            reads=frozenset(),
        ),
    ]
