"""The kit's checks of an integrity scheme, without and with indexed columns."""

from anonloom_skip_list.scheme import SkipListSeal
from anonloom_testing import IntegrityConformance


class TestSkipList(IntegrityConformance):
    method = SkipListSeal

    def public_key(self, public, private):
        return public / "skip-list.pub"


class TestSkipListWithRanges(IntegrityConformance):
    method = SkipListSeal
    params = {"index": ["age", "region"]}

    def public_key(self, public, private):
        return public / "skip-list.pub"
