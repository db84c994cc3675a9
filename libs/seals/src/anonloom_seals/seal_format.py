"""What the seals of one scheme look like: the same for who seals, who verifies and who proves."""

from pathlib import Path

import attrs

from anonloom.errors import IntegrityError
from anonloom_seals import keys
from anonloom_seals.folder import entry_of, read
from anonloom_seals.head import Head
from anonloom_seals.salts import Seeds
from anonloom_seals.signed_text import Names, SignedText
from anonloom_seals.structure import GrowingStructure, Structure

__all__ = ["SealFormat"]


@attrs.frozen
class SealFormat:
    """How a scheme names its files, what it signs, and what binds its rows.

    Attributes
    ----------
    name
        The scheme's name; its files begin with it.
    structure
        What binds rows: makes roots and paths, and computes roots from paths.
    """

    name: str
    structure: type[Structure]

    @property
    def names(self) -> Names:
        """The files of the head, of its signature and of the public key."""
        return Names(f"{self.name}.json", f"{self.name}.sig", f"{self.name}.pub")

    @property
    def salts(self) -> str:
        """The file from which the salts of all rows follow."""
        return f"{self.name}.salts"

    @property
    def public_files(self) -> tuple[str, ...]:
        """All files that sealing adds to a public folder."""
        return (*attrs.astuple(self.names), self.salts)

    @property
    def private_key(self) -> str:
        """The file of a key that was drawn for one release, in its private folder."""
        return f"{self.name}.key"

    @property
    def domain(self) -> bytes:
        """What stands before everything that is signed: no scheme's signature fits another."""
        return f"anonloom {self.name} signature 1\0".encode()

    @property
    def shows_growth(self) -> bool:
        """Whether it can be proved that a release only grew."""
        return issubclass(self.structure, GrowingStructure)

    def read_head(self, signed: SignedText, names: Names, key: Path | None) -> Head:
        """Read a head, if it is signed, and one of this scheme.

        Parameters
        ----------
        names
            What messages call the head, its signature and its key.
        key
            The publisher's key, obtained elsewhere, if the recipient has it.

        Raises
        ------
        IntegrityError
            When the key is another than the pinned one, the signature does not fit, or the head is
            malformed, or made for another key or scheme.
        """
        signer = signed.signer(names, self.domain, key)
        head = Head.read(signed.text, names.text)
        if head.key != keys.fingerprint(signer):
            raise IntegrityError(f"'{names.text}' was written for another key than '{names.key}'")
        if head.scheme != self.name:
            raise IntegrityError(f"'{names.text}' is the head of another scheme")
        return head

    def read_seeds(self, public: Path, head: Head) -> Seeds:
        """Read the seeds of the salts from a folder.

        Raises
        ------
        IntegrityError
            When they are not those that the head lists, or malformed.
        """
        text = read(public, self.salts)
        listed = head.files.get(self.salts)
        if listed != entry_of(public / self.salts):
            raise IntegrityError(f"'{self.salts}' is not what was sealed")
        try:
            return Seeds.read(text)
        except ValueError:
            raise IntegrityError(f"'{self.salts}' is malformed: it holds no seeds") from None
