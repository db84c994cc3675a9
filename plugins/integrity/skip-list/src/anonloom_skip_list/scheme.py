"""Skip list: an authenticated list of the rows of a release, under a signed head."""

import attrs

from anonloom_proofs.seal import RowSeal
from anonloom_skip_list.skiplist import SkipList


@attrs.frozen(kw_only=True)
class SkipListSeal(RowSeal):
    """Seals every file and every row of a release with authenticated skip lists.

    Argument: the head is signed, and holds the hash of every file but itself and its signature,
    the number of rows, and the root of a list of them in the order of the file, and of one per
    indexed end of an attribute. A change of a row changes its leaf and thereby every root, unless
    SHA-256 has a collision; a change of the head does not fit the signature.
    """

    name = "skip-list"
    structure = SkipList
