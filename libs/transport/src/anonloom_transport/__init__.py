"""What transports share: rounds, engines, the driver, signed notices, receipts, restarts."""

from importlib import import_module

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom_transport import driver as driver
    from anonloom_transport import estimates as estimates
    from anonloom_transport import faults as faults
    from anonloom_transport.channel import OPENING as OPENING
    from anonloom_transport.channel import Channel as Channel
    from anonloom_transport.channel import readable as readable
    from anonloom_transport.client import RoundClient as RoundClient
    from anonloom_transport.codec import cut as cut
    from anonloom_transport.codec import pack as pack
    from anonloom_transport.codec import unpack as unpack
    from anonloom_transport.combining import both as both
    from anonloom_transport.costs import CHECK as CHECK
    from anonloom_transport.costs import LOOK as LOOK
    from anonloom_transport.costs import READ_SLOT as READ_SLOT
    from anonloom_transport.costs import Costs as Costs
    from anonloom_transport.driver import Corruption as Corruption
    from anonloom_transport.driver import Driver as Driver
    from anonloom_transport.engine_transport import EngineTransport as EngineTransport
    from anonloom_transport.engines import ID_BYTES as ID_BYTES
    from anonloom_transport.engines import ClientEngine as ClientEngine
    from anonloom_transport.engines import Clock as Clock
    from anonloom_transport.engines import Entropy as Entropy
    from anonloom_transport.engines import Envelope as Envelope
    from anonloom_transport.engines import ServerEngine as ServerEngine
    from anonloom_transport.engines import Vault as Vault
    from anonloom_transport.entropy import SteppedClock as SteppedClock
    from anonloom_transport.entropy import SystemClock as SystemClock
    from anonloom_transport.entropy import SystemEntropy as SystemEntropy
    from anonloom_transport.entropy import is_simulated as is_simulated
    from anonloom_transport.estimates import Estimate as Estimate
    from anonloom_transport.estimates import Operation as Operation
    from anonloom_transport.estimates import Work as Work
    from anonloom_transport.estimates import microbenchmark as microbenchmark
    from anonloom_transport.estimates import seconds_each as seconds_each
    from anonloom_transport.faults import Delivery as Delivery
    from anonloom_transport.faults import Fault as Fault
    from anonloom_transport.faults import When as When
    from anonloom_transport.faults import always as always
    from anonloom_transport.invitations import Authority as Authority
    from anonloom_transport.ledger import Entry as Entry
    from anonloom_transport.ledger import Ledger as Ledger
    from anonloom_transport.messages import SignedMessage as SignedMessage
    from anonloom_transport.meter import Meter as Meter
    from anonloom_transport.microbench import Microbench as Microbench
    from anonloom_transport.microbench import run_microbench as run_microbench
    from anonloom_transport.network import Network as Network
    from anonloom_transport.notice import Notice as Notice
    from anonloom_transport.notice import read_notice as read_notice
    from anonloom_transport.objections import Objection as Objection
    from anonloom_transport.promises import COUNTED as COUNTED
    from anonloom_transport.promises import ERASED as ERASED
    from anonloom_transport.promises import HOLLOW as HOLLOW
    from anonloom_transport.promises import SILENT as SILENT
    from anonloom_transport.promises import WRONG_PART as WRONG_PART
    from anonloom_transport.promises import delivery_guarantee as delivery_guarantee
    from anonloom_transport.promises import shared_guarantees as shared_guarantees
    from anonloom_transport.promises import uncovered_cases as uncovered_cases
    from anonloom_transport.receipts import write_receipt as write_receipt
    from anonloom_transport.recorded_entropy import RecordedEntropy as RecordedEntropy
    from anonloom_transport.records import TEXT_BYTES as TEXT_BYTES
    from anonloom_transport.records import RecordLayout as RecordLayout
    from anonloom_transport.rounds import MOST_SERVERS as MOST_SERVERS
    from anonloom_transport.rounds import SUITES as SUITES
    from anonloom_transport.rounds import Erasure as Erasure
    from anonloom_transport.rounds import Party as Party
    from anonloom_transport.rounds import Round as Round
    from anonloom_transport.rounds import RoundOperation as RoundOperation
    from anonloom_transport.rounds import Suite as Suite
    from anonloom_transport.rounds import require_operation as require_operation
    from anonloom_transport.rounds import require_positions as require_positions
    from anonloom_transport.rounds import require_size as require_size
    from anonloom_transport.sealing import Lock as Lock
    from anonloom_transport.sealing import SealingKey as SealingKey
    from anonloom_transport.sealing import context_of as context_of
    from anonloom_transport.server import RoundServer as RoundServer
    from anonloom_transport.server_config import Identity as Identity
    from anonloom_transport.server_config import ServerConfig as ServerConfig
    from anonloom_transport.signing import SIGNATURE_BYTES as SIGNATURE_BYTES
    from anonloom_transport.signing import Signer as Signer
    from anonloom_transport.signing import new_identity as new_identity
    from anonloom_transport.signing import read_signed as read_signed
    from anonloom_transport.signing import signed_size as signed_size
    from anonloom_transport.signing import verify_signature as verify_signature
    from anonloom_transport.signing import write_signed as write_signed
    from anonloom_transport.slots import SECRET_BYTES as SECRET_BYTES
    from anonloom_transport.slots import SlotKey as SlotKey
    from anonloom_transport.slots import SlotSecret as SlotSecret
    from anonloom_transport.slots import chain as chain
    from anonloom_transport.slots import read_row as read_row
    from anonloom_transport.slots import row_size as row_size
    from anonloom_transport.slots import slot_of as slot_of
    from anonloom_transport.slots import write_row as write_row
    from anonloom_transport.state import RoundState as RoundState
    from anonloom_transport.state_vault import StateVault as StateVault
    from anonloom_transport.storage_attack import StorageAttack as StorageAttack
    from anonloom_transport.strategy import ServerStrategy as ServerStrategy
    from anonloom_transport.trace import Link as Link
    from anonloom_transport.trace import Rounds as Rounds
    from anonloom_transport.trace import SeenEnvelope as SeenEnvelope
    from anonloom_transport.trace import Trace as Trace
    from anonloom_transport.transport import RoundTransport as RoundTransport
    from anonloom_transport.uploads import HASH_BYTES as HASH_BYTES
    from anonloom_transport.uploads import Body as Body
    from anonloom_transport.uploads import read_held as read_held
    from anonloom_transport.vault import MemoryVault as MemoryVault

# Looked up when first used: a hook module that names a class of this library loads nothing else.
_HOMES = {
    "channel": (
        "Channel",
        "OPENING",
        "readable",
    ),
    "client": ("RoundClient",),
    "codec": (
        "cut",
        "pack",
        "unpack",
    ),
    "combining": ("both",),
    "costs": (
        "CHECK",
        "Costs",
        "LOOK",
        "READ_SLOT",
    ),
    "driver": (
        "Corruption",
        "Driver",
    ),
    "engine_transport": ("EngineTransport",),
    "engines": (
        "ClientEngine",
        "Clock",
        "Entropy",
        "Envelope",
        "ID_BYTES",
        "ServerEngine",
        "Vault",
    ),
    "entropy": (
        "SteppedClock",
        "SystemClock",
        "SystemEntropy",
        "is_simulated",
    ),
    "estimates": (
        "Estimate",
        "Operation",
        "Work",
        "microbenchmark",
        "seconds_each",
    ),
    "faults": (
        "Delivery",
        "Fault",
        "When",
        "always",
    ),
    "invitations": ("Authority",),
    "ledger": (
        "Entry",
        "Ledger",
    ),
    "messages": ("SignedMessage",),
    "meter": ("Meter",),
    "microbench": (
        "Microbench",
        "run_microbench",
    ),
    "network": ("Network",),
    "notice": (
        "Notice",
        "read_notice",
    ),
    "objections": ("Objection",),
    "promises": (
        "COUNTED",
        "ERASED",
        "HOLLOW",
        "SILENT",
        "WRONG_PART",
        "delivery_guarantee",
        "shared_guarantees",
        "uncovered_cases",
    ),
    "receipts": ("write_receipt",),
    "recorded_entropy": ("RecordedEntropy",),
    "records": (
        "RecordLayout",
        "TEXT_BYTES",
    ),
    "rounds": (
        "Erasure",
        "MOST_SERVERS",
        "Party",
        "Round",
        "RoundOperation",
        "SUITES",
        "Suite",
        "require_operation",
        "require_positions",
        "require_size",
    ),
    "sealing": (
        "Lock",
        "SealingKey",
        "context_of",
    ),
    "server": ("RoundServer",),
    "server_config": (
        "Identity",
        "ServerConfig",
    ),
    "signing": (
        "SIGNATURE_BYTES",
        "Signer",
        "new_identity",
        "read_signed",
        "signed_size",
        "verify_signature",
        "write_signed",
    ),
    "slots": (
        "SECRET_BYTES",
        "SlotKey",
        "SlotSecret",
        "chain",
        "read_row",
        "row_size",
        "slot_of",
        "write_row",
    ),
    "state": ("RoundState",),
    "state_vault": ("StateVault",),
    "storage_attack": ("StorageAttack",),
    "strategy": ("ServerStrategy",),
    "trace": (
        "Link",
        "Rounds",
        "SeenEnvelope",
        "Trace",
    ),
    "transport": ("RoundTransport",),
    "uploads": (
        "Body",
        "HASH_BYTES",
        "read_held",
    ),
    "vault": ("MemoryVault",),
}

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Authority",
    "Body",
    "CHECK",
    "COUNTED",
    "Channel",
    "ClientEngine",
    "Clock",
    "Corruption",
    "Costs",
    "Delivery",
    "Driver",
    "ERASED",
    "EngineTransport",
    "Entropy",
    "Entry",
    "Envelope",
    "Erasure",
    "Estimate",
    "Fault",
    "HASH_BYTES",
    "HOLLOW",
    "ID_BYTES",
    "Identity",
    "LOOK",
    "Ledger",
    "Link",
    "Lock",
    "MOST_SERVERS",
    "MemoryVault",
    "Meter",
    "Microbench",
    "Network",
    "Notice",
    "OPENING",
    "Objection",
    "Operation",
    "Party",
    "READ_SLOT",
    "RecordLayout",
    "RecordedEntropy",
    "Round",
    "RoundClient",
    "RoundOperation",
    "RoundServer",
    "RoundState",
    "RoundTransport",
    "Rounds",
    "SECRET_BYTES",
    "SIGNATURE_BYTES",
    "SILENT",
    "SUITES",
    "SealingKey",
    "SeenEnvelope",
    "ServerConfig",
    "ServerEngine",
    "ServerStrategy",
    "SignedMessage",
    "Signer",
    "SlotKey",
    "SlotSecret",
    "StateVault",
    "SteppedClock",
    "StorageAttack",
    "Suite",
    "SystemClock",
    "SystemEntropy",
    "TEXT_BYTES",
    "Trace",
    "Vault",
    "WRONG_PART",
    "When",
    "Work",
    "always",
    "both",
    "chain",
    "context_of",
    "cut",
    "delivery_guarantee",
    "driver",
    "estimates",
    "faults",
    "is_simulated",
    "microbenchmark",
    "new_identity",
    "pack",
    "read_held",
    "read_notice",
    "read_row",
    "read_signed",
    "readable",
    "require_operation",
    "require_positions",
    "require_size",
    "row_size",
    "run_microbench",
    "seconds_each",
    "shared_guarantees",
    "signed_size",
    "slot_of",
    "uncovered_cases",
    "unpack",
    "verify_signature",
    "write_receipt",
    "write_row",
    "write_signed",
]


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        return getattr(import_module(f"anonloom_transport.{_HOME_OF[name]}"), name)
    if name in __all__:
        return import_module(f"anonloom_transport.{name}")
    raise AttributeError(f"module 'anonloom_transport' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
