"""The kit's checks of an integrity scheme."""

from anonloom.testing import IntegrityConformance
from anonloom_digest.digest import Digest


class TestDigest(IntegrityConformance):
    method = Digest

    def public_key(self, public, private):
        return public / "digest.pub"
