"""Running the kit on an installed method without pytest; `anonloom plugins check` is this."""

from collections.abc import Mapping
from importlib import import_module

from anonloom import Registry
from anonloom_testing.auditor import AuditorConformance
from anonloom_testing.collector import CollectorConformance
from anonloom_testing.conformance import Conformance
from anonloom_testing.generalizer import GeneralizerConformance
from anonloom_testing.integrity import IntegrityConformance
from anonloom_testing.mechanism import MechanismConformance
from anonloom_testing.outliers import OutlierHandlerConformance
from anonloom_testing.partitioner import PartitionerConformance
from anonloom_testing.privacy import PrivacyModelConformance
from anonloom_testing.reporter import ReporterConformance
from anonloom_testing.results import CheckResult
from anonloom_testing.sampler import SamplerConformance
from anonloom_testing.source import SourceConformance
from anonloom_testing.transport import TransportConformance

_CLASSES: tuple[type[Conformance], ...] = (
    SourceConformance,
    MechanismConformance,
    PartitionerConformance,
    OutlierHandlerConformance,
    GeneralizerConformance,
    SamplerConformance,
    PrivacyModelConformance,
    TransportConformance,
    CollectorConformance,
    AuditorConformance,
    IntegrityConformance,
    ReporterConformance,
)

#: The conformance class of every kind, by the kind's YAML key.
CONFORMANCE: dict[str, type[Conformance]] = {cls.kind: cls for cls in _CLASSES}


def run_checks(
    kind: str,
    name: str,
    registry: Registry | None = None,
    params: Mapping[str, object] | None = None,
) -> list[CheckResult]:
    """Check an installed method.

    Parameters
    ----------
    kind, name : str
        The kind's YAML key and the method's name.
    registry : Registry or None
        Where to look; the environment by default.
    params : mapping or None
        The parameters to check it with, as YAML gives them. By default those that the class
        offers as its `example`, a mapping; a class whose parameters all have defaults needs none.

    Returns
    -------
    list of CheckResult
        One per check of the kind. What needs more than the class, such as a model's reference, is
        skipped and says so: it belongs into the plugin's own tests.

    Raises
    ------
    PluginError
        If there is no such method.
    """
    registry = registry if registry is not None else Registry.installed()
    method = registry.load(kind, name)
    base = _own_class(method) or CONFORMANCE[kind]
    attributes = {"method": method, "params": dict(params or {}), "registry": registry}
    subject: type[Conformance] = type(f"{method.__name__}Conformance", (base,), attributes)
    return subject().results()


def _own_class(method: type) -> type[Conformance] | None:
    """Return the conformance class that a method names in `conformance`, ``module:Class``.

    For sorts of a kind that the kit does not know, which a plugin brings with checks of its own.
    """
    module, _, name = getattr(method, "conformance", "").partition(":")
    if not module:
        return None
    result: type[Conformance] = getattr(import_module(module), name)
    return result
