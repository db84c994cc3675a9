"""StorageAttack: what somebody can do who gets hold of all that the servers of a study ever saved.

To try what 'erased' and 'joined by nobody' are worth. The attacker has all backups of all servers,
of the study and of its rounds, their long-term keys and whatever is left in the vaults; where that
is enough to bring servers of the past back, rounds are opened again without erasing, and the
study's secret is read.
"""

from collections.abc import Sequence

import attrs

from anonloom.errors import TransportError
from anonloom_anonify.aggregator import Aggregator
from anonloom_anonify.campaign import Campaign
from anonloom_transport import MemoryVault, StorageAttack, Vault


@attrs.define(eq=False)
class StudyStorageAttack:
    """The backups of all servers of a study; `back_up` fits `Campaign(after=...)`.

    Attributes
    ----------
    rounds
        The backups of each round, by its id.
    """

    rounds: dict[str, StorageAttack] = attrs.field(factory=dict, init=False)
    _campaign: Campaign | None = attrs.field(default=None, init=False, repr=False)
    _backups: list[list[bytes]] = attrs.field(factory=list, init=False, repr=False)

    def back_up(self, campaign: Campaign, step: str) -> None:
        """Keep what every server saves now, of the study and of its rounds."""
        self._campaign = campaign
        self._backups.append([server.save() for server in campaign.servers])
        for driver in campaign.open_drivers:
            self.rounds.setdefault(driver.round.id, StorageAttack(driver)).back_up()

    @property
    def saved_bytes(self) -> list[bytes]:
        """All bytes that were ever saved."""
        of_rounds = [saved for disks in self.rounds.values() for saved in disks.saved_bytes]
        return [saved for backup in self._backups for saved in backup] + of_rounds

    def reopen_rounds(
        self, vaults: Sequence[Vault] | None = None
    ) -> dict[str, Sequence[bytes | None]]:
        """Open every round again without erasing; return what comes out, by round.

        Parameters
        ----------
        vaults
            Where each server's keys are; what the rounds have left if they are not given.
        """
        results = {
            name: item.reopen(vaults or _remaining_vaults(item))
            for name, item in self.rounds.items()
        }
        return {name: records for name, records in results.items() if records is not None}

    def read(self, vaults: Sequence[Vault] | None = None) -> list[bytes]:
        """Return what donors had sealed to servers that can be brought back."""
        return [
            content
            for item in self.rounds.values()
            for content in item.read(vaults or _remaining_vaults(item))
        ]

    def secrets(self, vaults: Sequence[Vault] | None = None) -> set[bytes]:
        """Return the study's secret, if any backup of any server still tells it."""
        results = set()
        for backup in self._backups:
            for index, saved in enumerate(backup):
                server = self._raise(index, saved, vaults)
                if server is not None and server.agreement.secret is not None:
                    results.add(server.agreement.secret)
        return results

    def _raise(self, index: int, saved: bytes, vaults: Sequence[Vault] | None) -> Aggregator | None:
        campaign = self._campaign
        assert campaign is not None
        honest = campaign.servers[index]
        vault = vaults[index] if vaults else honest.config.vault
        # A copy: what is brought back destroys its key when it ends.
        copy, name = MemoryVault(), honest.agreement.state_vault.name
        key = vault.fetch(name)
        if key is not None:
            copy.keep(name, key)
        config = attrs.evolve(honest.config, vault=copy)
        server = Aggregator(campaign.study, config, campaign.works[index], campaign.entropy)
        try:
            server.resume(saved)
        except TransportError:
            return None
        return server


def _remaining_vaults(disks: StorageAttack) -> list[Vault]:
    """Return what is left of the vaults of a round."""
    return [config.vault for config in disks.driver.configs]
