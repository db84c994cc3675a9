"""StorageAttack: what somebody can do who gets hold of everything that servers ever saved.

To try what 'erased' is worth. The attacker has all backups of all servers, their long-term keys,
what they know of the slots, and whatever is left in the vaults; where that is enough to bring a
server of the past back, it opens again, this time without erasing.
"""

from collections import deque
from collections.abc import Sequence

import attrs

from anonloom.errors import TransportError
from anonloom_transport.driver import Driver
from anonloom_transport.engines import Envelope, Vault
from anonloom_transport.server import RoundServer
from anonloom_transport.state_vault import StateVault
from anonloom_transport.vault import MemoryVault


@attrs.define(eq=False)
class StorageAttack:
    """The backups of all servers of a round.

    Parameters
    ----------
    driver
        Whose servers are backed up.
    """

    driver: Driver
    _backups: list[list[bytes]] = attrs.field(factory=list, init=False, repr=False)

    def back_up(self) -> None:
        """Keep what every server saves now."""
        self._backups.append([server.save() for server in self.driver.servers])

    @property
    def saved_bytes(self) -> list[bytes]:
        """All bytes that were ever saved."""
        return [saved for backup in self._backups for saved in backup]

    def restore_servers(self, vaults: Sequence[Vault]) -> list[list[RoundServer | None]]:
        """Bring back the servers of each backup; None where a server's key is gone."""
        return [
            [self._raise(index, saved, vaults[index]) for index, saved in enumerate(backup)]
            for backup in self._backups
        ]

    def _raise(self, index: int, saved: bytes, vault: Vault) -> RoundServer | None:
        driver = self.driver
        # A copy: what is brought back destroys its key when it opens.
        copy, name = MemoryVault(), StateVault(driver.round, index, vault).name
        key = vault.fetch(name)
        if key is not None:
            copy.keep(name, key)
        config = attrs.evolve(driver.configs[index], vault=copy)
        try:
            server = driver.transport.server(
                driver.round,
                config,
                entropy=driver.entropy,
                clock=driver.network.clock,
                saved=saved,
            )
        except TransportError:
            return None
        assert isinstance(server, RoundServer)
        return None if server.state.over else server

    def read(self, vaults: Sequence[Vault]) -> list[bytes]:
        """Return what clients had sealed to servers that can be brought back."""
        return [
            content
            for servers in self.restore_servers(vaults)
            for server in servers
            if server is not None
            for content in server.state.contents.values()
        ]

    def reopen(self, vaults: Sequence[Vault]) -> Sequence[bytes | None] | None:
        """Open again without erasing; None where no backup brings all servers back."""
        for servers in reversed(self.restore_servers(vaults)):
            results = [server for server in servers if server is not None]
            if len(results) == len(servers) and all(server.state.settled for server in results):
                return _open(results)
        return None


def _open(servers: list[RoundServer]) -> Sequence[bytes | None] | None:
    waiting: deque[Envelope] = deque()
    for server in servers:
        server.state.erased.clear()
        waiting += server.open()
    while waiting:
        envelope = waiting.popleft()
        if envelope.receiver.role == "server":
            waiting += servers[envelope.receiver.index].receive(envelope)
    return servers[0].result
