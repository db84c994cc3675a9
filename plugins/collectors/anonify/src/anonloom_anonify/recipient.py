"""Recipient: whoever gets the releases, and believes only what every server has signed."""

import attrs
import numpy as np

from anonloom.errors import TransportError
from anonloom_anonify.council import bound_of, read_study
from anonloom_anonify.releasing import Opened
from anonloom_anonify.study import Study
from anonloom_anonify.work import SUPPRESSED
from anonloom_rounds.signing import read_signed


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
    opened: dict[int, Opened] = attrs.field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.study = read_study(self.notice, self.pins)

    def take(self, iteration: int, release: bytes) -> Opened:
        """Check the release of an iteration, keep and return it.

        Raises
        ------
        TransportError
            When one of the servers has not signed it, or it breaks what the study promises.
        """
        kind = f"release {iteration}"
        document = read_signed(release, kind, bound_of(self.notice), self.pins)
        if document is None:
            raise TransportError("the release is not signed by all servers of the study")
        opened = Opened.decoded(document, self.study)
        sizes = np.bincount(opened.numbers, minlength=SUPPRESSED + 1)
        small = np.flatnonzero((sizes > 0) & (sizes < self.study.k))
        if opened.iteration != iteration or len(small[small != SUPPRESSED]):
            raise TransportError("the release breaks what the study promises")
        self.opened[iteration] = opened
        return opened
