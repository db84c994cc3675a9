"""ServerGroup: what servers need to agree on before they can talk at all."""

from typing import Protocol

from anonloom_transport.rounds import Party


class ServerGroup(Protocol):
    """A round, or anything longer in which the same servers talk: a study of several rounds."""

    @property
    def id(self) -> str:
        """A name that no other has."""

    @property
    def servers(self) -> int:
        """Number of servers."""

    @property
    def everyone(self) -> tuple[Party, ...]:
        """The servers."""

    @property
    def digest(self) -> bytes:
        """Hash of all that was agreed on."""
