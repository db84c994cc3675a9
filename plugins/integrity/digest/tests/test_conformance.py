"""The kit's checks of an integrity scheme."""

from anonloom_digest.digest import Digest
from anonloom_testing import IntegrityConformance


class TestDigest(IntegrityConformance):
    method = Digest

    def public_key(self, public, private):
        return public / "digest.pub"
