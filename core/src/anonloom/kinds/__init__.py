"""The kinds of method that a pipeline is made of, and what their methods are given."""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom._outcome import ModelVerdict as ModelVerdict
    from anonloom.kinds._auditor import Auditor as Auditor
    from anonloom.kinds._auditor import GridRow as GridRow
    from anonloom.kinds._collection import Collection as Collection
    from anonloom.kinds._collection import SamplingRecord as SamplingRecord
    from anonloom.kinds._collector import ONE_PROCESS as ONE_PROCESS
    from anonloom.kinds._collector import PLAYED as PLAYED
    from anonloom.kinds._collector import Collector as Collector
    from anonloom.kinds._context import StageContext as StageContext
    from anonloom.kinds._context import stream as stream
    from anonloom.kinds._engine import Engine as Engine
    from anonloom.kinds._generalizer import Generalizer as Generalizer
    from anonloom.kinds._guard import Guard as Guard
    from anonloom.kinds._integrity import IntegrityScheme as IntegrityScheme
    from anonloom.kinds._integrity import KnownVersion as KnownVersion
    from anonloom.kinds._integrity import ProofSystem as ProofSystem
    from anonloom.kinds._integrity import ProvedRows as ProvedRows
    from anonloom.kinds._integrity import Query as Query
    from anonloom.kinds._integrity import Seal as Seal
    from anonloom.kinds._integrity import SealFiles as SealFiles
    from anonloom.kinds._integrity import VerifiedScope as VerifiedScope
    from anonloom.kinds._mechanism import Mechanism as Mechanism
    from anonloom.kinds._outliers import OutlierHandler as OutlierHandler
    from anonloom.kinds._partitioner import Partitioner as Partitioner
    from anonloom.kinds._privacy import Offsets as Offsets
    from anonloom.kinds._privacy import PrivacyModel as PrivacyModel
    from anonloom.kinds._reporter import Reporter as Reporter
    from anonloom.kinds._sampler import Sampler as Sampler
    from anonloom.kinds._section import SectionMethod as SectionMethod
    from anonloom.kinds._source import Source as Source
    from anonloom.kinds._stages import Stages as Stages
    from anonloom.kinds._transport import Guarantees as Guarantees
    from anonloom.kinds._transport import Transport as Transport
    from anonloom.kinds._transport import swap_sentence as swap_sentence

__all__ = [
    "Auditor",
    "Collection",
    "Collector",
    "Engine",
    "Generalizer",
    "GridRow",
    "Guarantees",
    "Guard",
    "IntegrityScheme",
    "KnownVersion",
    "Mechanism",
    "ModelVerdict",
    "ONE_PROCESS",
    "Offsets",
    "OutlierHandler",
    "PLAYED",
    "Partitioner",
    "PrivacyModel",
    "ProofSystem",
    "ProvedRows",
    "Query",
    "Reporter",
    "Sampler",
    "SamplingRecord",
    "SectionMethod",
    "Seal",
    "SealFiles",
    "Source",
    "StageContext",
    "Stages",
    "Transport",
    "VerifiedScope",
    "stream",
    "swap_sentence",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom._outcome": ("ModelVerdict",),
        "anonloom.kinds._auditor": ("Auditor", "GridRow"),
        "anonloom.kinds._collection": ("Collection", "SamplingRecord"),
        "anonloom.kinds._collector": ("Collector", "ONE_PROCESS", "PLAYED"),
        "anonloom.kinds._context": ("StageContext", "stream"),
        "anonloom.kinds._engine": ("Engine",),
        "anonloom.kinds._generalizer": ("Generalizer",),
        "anonloom.kinds._guard": ("Guard",),
        "anonloom.kinds._integrity": (
            "IntegrityScheme",
            "KnownVersion",
            "ProofSystem",
            "ProvedRows",
            "Query",
            "Seal",
            "SealFiles",
            "VerifiedScope",
        ),
        "anonloom.kinds._mechanism": ("Mechanism",),
        "anonloom.kinds._outliers": ("OutlierHandler",),
        "anonloom.kinds._partitioner": ("Partitioner",),
        "anonloom.kinds._privacy": ("Offsets", "PrivacyModel"),
        "anonloom.kinds._reporter": ("Reporter",),
        "anonloom.kinds._sampler": ("Sampler",),
        "anonloom.kinds._source": ("Source",),
        "anonloom.kinds._stages": ("Stages",),
        "anonloom.kinds._section": ("SectionMethod",),
        "anonloom.kinds._transport": ("Guarantees", "Transport", "swap_sentence"),
    },
)
