"""What this distribution offers: the samplers `stratified` and `simple-random`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 1


@hookimpl
def anonloom_register_samplers() -> list[Method]:
    """Name the samplers."""
    return [
        Method(
            name="stratified",
            target="anonloom_sampling.samplers:Stratified",
            summary="Draws the same share, or the same number of rows, from every class.",
            paper="J. Neyman: On the Two Different Aspects of the Representative Method. Journal "
            "of the Royal Statistical Society 97(4), 1934",
            reads=frozenset(),
        ),
        Method(
            name="simple-random",
            target="anonloom_sampling.samplers:SimpleRandom",
            summary="Draws a share of all rows, whatever their class.",
            reads=frozenset(),
        ),
    ]
