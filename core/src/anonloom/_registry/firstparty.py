"""The methods that this repository holds, so that a missing one can be named with its folder."""

_FOLDERS: dict[str, tuple[tuple[str, str], ...]] = {
    "anonymizers/full-domain": (
        ("partitioner", "full-domain"),
        ("partitioner", "local-recoding"),
    ),
    "anonymizers/k-member": (("partitioner", "k-member"),),
    "anonymizers/level-order": (("partitioner", "level-order"),),
    "anonymizers/mondrian": (("partitioner", "mondrian"),),
    "anonymizers/oka": (("partitioner", "one-pass-kmeans"),),
    "anonymizers/perturbation": (("mechanism", "perturb"),),
    "anonymizers/rayden": (("partitioner", "vp-tree"), ("outliers", "cof")),
    "anonymizers/regroup": (("outliers", "regroup"),),
    "anonymizers/recoding": (
        ("outliers", "none"),
        ("outliers", "suppress"),
        ("generalizer", "hierarchy"),
        ("generalizer", "sets"),
        ("generalizer", "centroid"),
        ("mechanism", "drop-columns"),
    ),
    "anonymizers/tada": (("partitioner", "kl-tree"),),
    "anonymizers/synthesis": (("mechanism", "copula"),),
    "anonymizers/privacy-models": (
        ("privacy", "k-anonymity"),
        ("privacy", "l-diversity"),
        ("privacy", "t-closeness"),
    ),
    "samplers/sampling": (
        ("sampler", "stratified"),
        ("sampler", "simple-random"),
        ("sampler", "pre-sample"),
    ),
    "auditors/utility": (("auditor", "utility"),),
    "auditors/cvpl": (
        ("auditor", "cvpl"),
        ("auditor", "cvpl-variants"),
        ("auditor", "cvpl-progressive"),
        ("auditor", "cvpl-ensemble"),
    ),
    "auditors/disclosure": (("auditor", "disclosure"),),
    "auditors/distance": (("auditor", "distance"),),
    "auditors/distribution": (("auditor", "distribution"),),
    "auditors/fellegi-sunter": (("auditor", "fellegi-sunter"),),
    "auditors/learning": (("auditor", "learning"),),
    "auditors/traffic": (("auditor", "traffic"),),
    "collectors/anonify": (("collector", "anonify"),),
    "collectors/delivery": (("collector", "delivery"),),
    "transports/direct": (("transport", "direct"),),
    "transports/dpf": (("transport", "dpf"),),
    "transports/mixnet": (("transport", "mixnet"),),
    "integrity/digest": (("integrity", "digest"),),
    "integrity/merkle": (("integrity", "merkle"),),
    "integrity/sentinels-twins": (("integrity", "sentinels-twins"), ("auditor", "outsourcing")),
    "integrity/skip-list": (("integrity", "skip-list"),),
    "auditors/prism": (
        ("auditor", "sensitive-correlations"),
        ("auditor", "attribute-inference"),
        ("mechanism", "prism-projection"),
    ),
    "reporters/page": (("reporter", "page"),),
    "sources/diabetes": (("source", "diabetes"),),
    "sources/marketing": (("source", "marketing"),),
    "sources/sql": (("source", "sql"),),
}

#: (kind's key, method's name) -> folder below `plugins/`.
FIRST_PARTY: dict[tuple[str, str], str] = {
    method: folder for folder, methods in _FOLDERS.items() for method in methods
}

#: Command -> the package of this repository that brings it.
FIRST_PARTY_COMMANDS: dict[str, str] = {
    "anonify-figures": "anonloom-anonify",
    "apply": "anonloom-replay",
    "audit": "anonloom-audit",
    "audit-secret": "anonloom-cvpl",
    "outsource": "anonloom-sentinels-twins",
    "prove": "anonloom-seals",
    "verify": "anonloom-seals",
}
