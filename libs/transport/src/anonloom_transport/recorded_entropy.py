"""Recording: entropy that remembers what it gave, so that a restart draws the same again."""

from collections.abc import Iterable

import attrs

from anonloom_transport.engines import Entropy

#: The type: inside the class the name is that of a method.
_Bytes = bytes


@attrs.define
class RecordedEntropy:
    """Gives bytes and keeps them; gives first those that were given before a restart."""

    _source: Entropy = attrs.field(repr=False)
    _before: list[bytes] = attrs.field(factory=list, init=False, repr=False)
    _given: int = attrs.field(default=0, init=False)

    def bytes(self, n: int, /) -> bytes:
        """Return `n` random bytes."""
        if self._given == len(self._before):
            self._before.append(self._source.bytes(n))
        self._given += 1
        return self._before[self._given - 1]

    def replay(self, drawn: Iterable[_Bytes]) -> None:
        """Give these first."""
        self._before = list(drawn)
        self._given = 0

    @property
    def draws(self) -> tuple[_Bytes, ...]:
        """All that was ever given."""
        return tuple(self._before)

    def forget(self) -> None:
        """Forget what was given."""
        self._before.clear()
        self._given = 0
