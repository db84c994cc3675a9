"""The kinds of method that a pipeline is made of, and what their methods are given."""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom.kinds._auditor import Auditor as Auditor
    from anonloom.kinds._auditor import GridRow as GridRow
    from anonloom.kinds._collector import PLAYED as PLAYED
    from anonloom.kinds._collector import Collector as Collector
    from anonloom.kinds._context import StageContext as StageContext
    from anonloom.kinds._context import stream as stream
    from anonloom.kinds._engines import ID_BYTES as ID_BYTES
    from anonloom.kinds._engines import ClientEngine as ClientEngine
    from anonloom.kinds._engines import Clock as Clock
    from anonloom.kinds._engines import Entropy as Entropy
    from anonloom.kinds._engines import Envelope as Envelope
    from anonloom.kinds._engines import ServerEngine as ServerEngine
    from anonloom.kinds._engines import Vault as Vault
    from anonloom.kinds._estimates import Estimate as Estimate
    from anonloom.kinds._estimates import seconds as seconds
    from anonloom.kinds._estimates import seconds_each as seconds_each
    from anonloom.kinds._estimates import tried as tried
    from anonloom.kinds._generalizer import Generalizer as Generalizer
    from anonloom.kinds._guard import Guard as Guard
    from anonloom.kinds._integrity import IntegrityScheme as IntegrityScheme
    from anonloom.kinds._integrity import KnownVersion as KnownVersion
    from anonloom.kinds._integrity import ProvedRows as ProvedRows
    from anonloom.kinds._integrity import ProvingSeal as ProvingSeal
    from anonloom.kinds._integrity import Query as Query
    from anonloom.kinds._integrity import Seal as Seal
    from anonloom.kinds._integrity import SealFiles as SealFiles
    from anonloom.kinds._integrity import VerifiedScope as VerifiedScope
    from anonloom.kinds._mechanism import Mechanism as Mechanism
    from anonloom.kinds._outliers import OutlierHandler as OutlierHandler
    from anonloom.kinds._overview import column_heat as column_heat
    from anonloom.kinds._overview import figure_over_parameter as figure_over_parameter
    from anonloom.kinds._overview import numeric_parameter as numeric_parameter
    from anonloom.kinds._partitioner import Partitioner as Partitioner
    from anonloom.kinds._privacy import Offsets as Offsets
    from anonloom.kinds._privacy import PrivacyModel as PrivacyModel
    from anonloom.kinds._reporter import Reporter as Reporter
    from anonloom.kinds._rounds import MOST_SERVERS as MOST_SERVERS
    from anonloom.kinds._rounds import SUITES as SUITES
    from anonloom.kinds._rounds import Erasure as Erasure
    from anonloom.kinds._rounds import Party as Party
    from anonloom.kinds._rounds import Round as Round
    from anonloom.kinds._rounds import Suite as Suite
    from anonloom.kinds._rounds import require_operation as require_operation
    from anonloom.kinds._rounds import require_positions as require_positions
    from anonloom.kinds._rounds import require_size as require_size
    from anonloom.kinds._sampler import Sampler as Sampler
    from anonloom.kinds._slots import SECRET_BYTES as SECRET_BYTES
    from anonloom.kinds._slots import SLOT_BYTES as SLOT_BYTES
    from anonloom.kinds._slots import SlotKey as SlotKey
    from anonloom.kinds._slots import SlotSecret as SlotSecret
    from anonloom.kinds._slots import chain as chain
    from anonloom.kinds._slots import read_row as read_row
    from anonloom.kinds._slots import row_size as row_size
    from anonloom.kinds._slots import slot_of as slot_of
    from anonloom.kinds._slots import write_row as write_row
    from anonloom.kinds._source import Source as Source
    from anonloom.kinds._stages import Stages as Stages
    from anonloom.kinds._transport import Guarantees as Guarantees
    from anonloom.kinds._transport import Identity as Identity
    from anonloom.kinds._transport import Seat as Seat
    from anonloom.kinds._transport import Transport as Transport

__all__ = [
    "Auditor",
    "ClientEngine",
    "Clock",
    "Collector",
    "Entropy",
    "Envelope",
    "Erasure",
    "Estimate",
    "Generalizer",
    "GridRow",
    "Guarantees",
    "Guard",
    "ID_BYTES",
    "Identity",
    "IntegrityScheme",
    "KnownVersion",
    "MOST_SERVERS",
    "Mechanism",
    "Offsets",
    "OutlierHandler",
    "PLAYED",
    "Partitioner",
    "Party",
    "PrivacyModel",
    "ProvedRows",
    "ProvingSeal",
    "Query",
    "Reporter",
    "Round",
    "SECRET_BYTES",
    "SLOT_BYTES",
    "SUITES",
    "Sampler",
    "Seal",
    "SealFiles",
    "Seat",
    "ServerEngine",
    "SlotKey",
    "SlotSecret",
    "Source",
    "StageContext",
    "Stages",
    "Suite",
    "Transport",
    "Vault",
    "VerifiedScope",
    "chain",
    "column_heat",
    "figure_over_parameter",
    "numeric_parameter",
    "read_row",
    "require_operation",
    "require_positions",
    "require_size",
    "row_size",
    "seconds",
    "seconds_each",
    "slot_of",
    "stream",
    "tried",
    "write_row",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom.kinds._auditor": ("Auditor", "GridRow"),
        "anonloom.kinds._collector": ("Collector", "PLAYED"),
        "anonloom.kinds._context": ("StageContext", "stream"),
        "anonloom.kinds._engines": (
            "ClientEngine",
            "Clock",
            "Entropy",
            "Envelope",
            "ID_BYTES",
            "ServerEngine",
            "Vault",
        ),
        "anonloom.kinds._estimates": ("Estimate", "seconds", "seconds_each", "tried"),
        "anonloom.kinds._generalizer": ("Generalizer",),
        "anonloom.kinds._guard": ("Guard",),
        "anonloom.kinds._integrity": (
            "IntegrityScheme",
            "KnownVersion",
            "ProvedRows",
            "ProvingSeal",
            "Query",
            "Seal",
            "SealFiles",
            "VerifiedScope",
        ),
        "anonloom.kinds._mechanism": ("Mechanism",),
        "anonloom.kinds._outliers": ("OutlierHandler",),
        "anonloom.kinds._overview": ("column_heat", "figure_over_parameter", "numeric_parameter"),
        "anonloom.kinds._partitioner": ("Partitioner",),
        "anonloom.kinds._privacy": ("Offsets", "PrivacyModel"),
        "anonloom.kinds._reporter": ("Reporter",),
        "anonloom.kinds._rounds": (
            "Erasure",
            "MOST_SERVERS",
            "Party",
            "Round",
            "SUITES",
            "Suite",
            "require_operation",
            "require_positions",
            "require_size",
        ),
        "anonloom.kinds._sampler": ("Sampler",),
        "anonloom.kinds._slots": (
            "SECRET_BYTES",
            "SLOT_BYTES",
            "SlotKey",
            "SlotSecret",
            "chain",
            "read_row",
            "row_size",
            "slot_of",
            "write_row",
        ),
        "anonloom.kinds._source": ("Source",),
        "anonloom.kinds._stages": ("Stages",),
        "anonloom.kinds._transport": ("Guarantees", "Identity", "Seat", "Transport"),
    },
)
