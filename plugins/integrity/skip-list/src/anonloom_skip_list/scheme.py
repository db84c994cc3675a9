"""Skip list: an authenticated list of the rows of a release, under a signed head."""

import attrs

from anonloom_seals.seal import RowSeal
from anonloom_seals.seal_format import SealFormat
from anonloom_skip_list.skiplist import SkipList


@attrs.frozen(kw_only=True)
class SkipListSeal(RowSeal):
    """Seals every file and every row of a release with authenticated skip lists."""

    format = SealFormat("skip-list", SkipList)
