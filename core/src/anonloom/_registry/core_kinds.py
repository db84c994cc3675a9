"""Core's own kinds, in the order in which a run meets them, through the door that plugins use."""

from anonloom.api import API_VERSION, Kind, hookimpl

ANONLOOM_API = API_VERSION


def _kind(key: str, name: str, base: str, where: str, kit: str = "") -> Kind:
    return Kind(
        key=key,
        name=name,
        base=f"anonloom.kinds._{key}:{base}",
        kit=f"anonloom_testing.{key}:{kit or base}Conformance",
        where=where,
    )


@hookimpl
def anonloom_register_kinds() -> list[Kind]:
    """Name the kinds."""
    return [
        _kind("source", "source", "Source", "data"),
        _kind("mechanism", "mechanism", "Mechanism", "stages.mechanism"),
        _kind("partitioner", "partitioner", "Partitioner", "stages.partitioner"),
        _kind("outliers", "outlier handler", "OutlierHandler", "stages.outliers"),
        _kind("generalizer", "generalizer", "Generalizer", "stages.generalizer"),
        _kind("sampler", "sampler", "Sampler", "stages.sampler"),
        _kind("privacy", "privacy model", "PrivacyModel", "privacy"),
        _kind("transport", "transport", "Transport", "parameter"),
        _kind("collector", "collector", "Collector", "collect"),
        _kind("auditor", "auditor", "Auditor", "audit"),
        _kind("integrity", "integrity scheme", "IntegrityScheme", "publish.integrity", "Integrity"),
        _kind("reporter", "reporter", "Reporter", "publish.reporters"),
        _kind("engine", "engine", "Engine", "engine"),
    ]
