"""Release: R', the opened records with the cells of their classes, signed by every server.

Algorithm 2 of the paper, steps 6 and 7.
"""

import hmac
import json
from collections import Counter
from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.errors import TransportError
from anonloom_anonify.registration import Classes
from anonloom_anonify.reservation import PublicationAttempt
from anonloom_anonify.study import CID_BYTES, Study
from anonloom_anonify.work import SUPPRESSED, Work
from anonloom_transport import cut, pack, unpack

#: Bytes of what joins the records of one position over iterations.
JOIN_BYTES = 16

_HEAD = b"anonloom release 1"


@attrs.frozen(eq=False)
class IterationRelease:
    """One iteration as the recipient gets it.

    Attributes
    ----------
    iteration
        Which one, counted from 1.
    classes
        What is published of each class that occurs, by its number.
    numbers, joins, answers
        Class, join key and answer of every record. They come in the order of class and join key:
        the rank of a position is not told.
    """

    iteration: int
    classes: dict[int, tuple[str | None, ...]] = attrs.field(repr=False)
    numbers: NDArray[np.int64] = attrs.field(repr=False)
    joins: tuple[bytes, ...] = attrs.field(repr=False)
    answers: NDArray[np.uint8] = attrs.field(repr=False)

    def __len__(self) -> int:
        return len(self.joins)

    def encode(self, study: Study) -> bytes:
        """Return the bytes that all servers sign."""
        head = {"iteration": self.iteration, "classes": sorted(self.classes.items())}
        rows = b"".join(
            number.to_bytes(CID_BYTES, "big") + join + answer.tobytes()
            for number, join, answer in zip(
                self.numbers.tolist(), self.joins, self.answers, strict=True
            )
        )
        return pack(_HEAD, study.digest, json.dumps(head).encode(), rows)

    @classmethod
    def decode(cls, data: bytes, study: Study) -> "IterationRelease":
        """Read a release.

        Raises
        ------
        TransportError
            When it is not one of this study.
        """
        try:
            title, digest, head, rows = unpack(data, 4)
            if title != _HEAD or digest != study.digest:
                raise ValueError("another study")
            fields = json.loads(head)
            parts = cut(rows, CID_BYTES + JOIN_BYTES + study.answer_size)
            start = CID_BYTES + JOIN_BYTES
            result = cls(
                int(fields["iteration"]),
                {int(number): tuple(cells) for number, cells in fields["classes"]},
                np.array([int.from_bytes(row[:CID_BYTES], "big") for row in parts], np.int64),
                tuple(row[CID_BYTES:start] for row in parts),
                np.frombuffer(b"".join(row[start:] for row in parts), np.uint8).reshape(
                    len(parts), study.answer_size
                ),
            )
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise TransportError("the release cannot be read") from None
        # It has one spelling: what reads alike and is written otherwise nobody wrote.
        known = set(np.unique(result.numbers).tolist()) == result.classes.keys()
        if not known or result.encode(study) != data:
            raise TransportError("the release cannot be read")
        return result


def join_key(secret: bytes, rank: int) -> bytes:
    """Return what joins the records of one position, for whoever does not know the secret."""
    return hmac.digest(secret, b"anonloom join 1\0" + rank.to_bytes(8, "big"), "sha256")[
        :JOIN_BYTES
    ]


@attrs.frozen(eq=False)
class Assembly:
    """What became of an iteration.

    Attributes
    ----------
    opened
        What is published.
    ranks
        The positions of its records.
    lost
        Positions that were to be published and are not, by reason; of small classes, classes.
    """

    opened: IterationRelease
    ranks: NDArray[np.int64] = attrs.field(repr=False)
    lost: Counter[str]

    def without_positions(self) -> "Assembly":
        """The same without positions: beside join keys they are worth the key that made these."""
        return attrs.evolve(self, ranks=self.ranks[:0])


def assemble(
    study: Study,
    iteration: int,
    classes: Classes,
    drawn: PublicationAttempt,
    records: Sequence[bytes | None],
    work: Work,
    secret: bytes,
) -> Assembly:
    """Put the opened records and the cells of their classes together.

    k counts the records of a class that were opened and can be read; a class with fewer is left
    out, also when the servers have seen it.
    """
    kept = np.flatnonzero(drawn.choice.kept)
    there = np.array([records[rank] is not None for rank in kept.tolist()], bool)
    lost = Counter({"nothing there, or contested": int((~there).sum())})
    ranks = kept[there]
    answers = np.frombuffer(b"".join(records[rank] or b"" for rank in ranks.tolist()), np.uint8)
    answers = answers.reshape(len(ranks), study.answer_size)
    readable = work.readable(answers)
    lost["not readable"] = int((~readable).sum())
    ranks, answers = ranks[readable], answers[readable]
    numbers = drawn.reservations.numbers[ranks]
    few = np.bincount(numbers, minlength=len(classes.cells))[numbers] < study.k
    few &= numbers != SUPPRESSED
    # Classes and not records: how many a class has that is not published is nobody's business.
    lost["classes with too few records"] = len(np.unique(numbers[few]))
    ranks, answers, numbers = ranks[~few], answers[~few], numbers[~few]
    joins = [join_key(secret, rank) for rank in ranks.tolist()]
    order = sorted(range(len(ranks)), key=lambda at: (int(numbers[at]), joins[at]))
    opened = IterationRelease(
        iteration,
        {number: classes.cells[number] for number in np.unique(numbers).tolist()},
        numbers[order],
        tuple(joins[index] for index in order),
        answers[order],
    )
    return Assembly(opened, ranks[order], +lost)
