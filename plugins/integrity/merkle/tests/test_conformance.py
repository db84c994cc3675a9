"""The kit's checks of an integrity scheme, without and with indexed columns."""

from anonloom_merkle.scheme import Merkle
from anonloom_testing import IntegrityConformance


class TestMerkle(IntegrityConformance):
    method = Merkle

    def public_key(self, public, private):
        return public / "merkle.pub"


class TestMerkleWithRanges(IntegrityConformance):
    method = Merkle
    params = {"index": ["age", "illness"], "growing": True}

    def public_key(self, public, private):
        return public / "merkle.pub"
