"""The kit's checks of an integrity scheme, without and with indexed columns."""

from anonloom.testing import IntegrityConformance
from anonloom_merkle.scheme import Merkle


class TestMerkle(IntegrityConformance):
    method = Merkle

    def public_key(self, public, private):
        return public / "merkle.pub"


class TestMerkleWithRanges(IntegrityConformance):
    method = Merkle
    params = {"index": ["age", "illness"], "growing": True}

    def public_key(self, public, private):
        return public / "merkle.pub"
