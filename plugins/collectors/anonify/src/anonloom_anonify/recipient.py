"""Recipient: whoever gets the releases, and believes only what every server has signed."""

import attrs
import numpy as np

from anonloom.errors import TransportError
from anonloom_anonify.release import IterationRelease
from anonloom_anonify.server_agreement import binding_of, read_study
from anonloom_anonify.study import Study
from anonloom_anonify.work import SUPPRESSED
from anonloom_transport import read_signed


@attrs.define(eq=False)
class Recipient:
    """Takes the releases of one study.

    Parameters
    ----------
    notice
        The study, signed by all servers.
    pins
        The servers' public keys, known from elsewhere.

    Raises
    ------
    TransportError
        When one of the servers has not signed the study.
    """

    notice: bytes = attrs.field(repr=False)
    pins: tuple[bytes, ...] = attrs.field(repr=False)
    study: Study = attrs.field(init=False)
    opened: dict[int, IterationRelease] = attrs.field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.study = read_study(self.notice, self.pins)

    def take(self, iteration: int, release: bytes) -> IterationRelease:
        """Check the release of an iteration, keep and return it.

        Raises
        ------
        TransportError
            When one of the servers has not signed it, or it breaks what the study promises.
        """
        kind = f"release {iteration}"
        document = read_signed(release, kind, binding_of(self.notice), self.pins)
        if document is None:
            raise TransportError("the release is not signed by all servers of the study")
        opened = IterationRelease.decode(document, self.study)
        numbers, sizes = np.unique(opened.numbers, return_counts=True)
        small = (sizes < self.study.k) & (numbers != SUPPRESSED)
        # k counts positions: one that came twice would count for two.
        twice = len(set(opened.joins)) < len(opened)
        if opened.iteration != iteration or small.any() or twice:
            raise TransportError("the release breaks what the study promises")
        self.opened[iteration] = opened
        return opened
