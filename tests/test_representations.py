"""Every object of a run has a short representation that holds no cell, no seed and no key.

What Python shows of an object ends in notebooks, tracebacks and logs. Objects are caught where they
are made, in runs over tables of canaries with most methods of this repository.
"""

import functools
import importlib
import inspect
import json
import pkgutil

import attrs
import pytest
import yaml

from anonloom import Pipeline
from anonloom_testing.canaries import SEED, canaries, loose_canaries, with_names
from anonloom_testing.cell_detector import CellDetector
from anonloom_testing.cell_leaks import LONGEST_REPR

#: Of each class so many objects are kept.
FEW = 4

PACKAGES = (
    "anonloom",
    "anonloom_columns",
    "anonloom_loss",
    "anonloom_tables",
    "anonloom_linkage",
    "anonloom_risk",
    "anonloom_kernels",
    "anonloom_seals",
    "anonloom_transport",
    "anonloom_mondrian",
    "anonloom_tada",
    "anonloom_rayden",
    "anonloom_recoding",
    "anonloom_regroup",
    "anonloom_full_domain",
    "anonloom_level_order",
    "anonloom_k_member",
    "anonloom_oka",
    "anonloom_perturbation",
    "anonloom_synthesis",
    "anonloom_privacy_models",
    "anonloom_sampling",
    "anonloom_cvpl",
    "anonloom_disclosure",
    "anonloom_distance",
    "anonloom_distribution",
    "anonloom_fellegi_sunter",
    "anonloom_learning",
    "anonloom_traffic",
    "anonloom_utility",
    "anonloom_anonify",
    "anonloom_delivery",
    "anonloom_direct",
    "anonloom_dpf",
    "anonloom_mixnet",
    "anonloom_digest",
    "anonloom_merkle",
    "anonloom_skip_list",
    "anonloom_prism",
    "anonloom_page",
    "anonloom_sql",
)


def classes_of(packages):
    """All classes of attrs that the packages define; the kit's own hold what it looks for."""
    for package in packages:
        top = importlib.import_module(package)
        for info in pkgutil.walk_packages(top.__path__, f"{package}."):
            if info.name.startswith("anonloom_testing") or info.name.endswith("__main__"):
                continue
            module = importlib.import_module(info.name)
            for var in vars(module).values():
                if inspect.isclass(var) and var.__module__ == info.name and attrs.has(var):
                    yield var


@pytest.fixture
def caught(monkeypatch):
    """Objects of every class, as they are made."""
    results = {}

    def catching(cls):
        made = cls.__init__

        @functools.wraps(made)
        def init(self, *args, **kwargs):
            made(self, *args, **kwargs)
            if type(self) is cls and len(kept) < FEW:
                kept.append(self)

        kept = results.setdefault(cls, [])
        return init

    for cls in classes_of(PACKAGES):
        monkeypatch.setattr(cls, "__init__", catching(cls))
    return results


STAGES = {
    "mondrian": [{"partitioner": "mondrian"}, {"outliers": "cof"}, {"generalizer": "hierarchy"}],
    "kl-tree": [
        {"partitioner": "kl-tree"},
        {"partitioner": "level-order"},
        {"generalizer": "sets"},
    ],
    "full-domain": [
        {"partitioner": "full-domain"},
        {"generalizer": "hierarchy"},
        {"sampler": "stratified", "with": {"share": 0.8}},
    ],
    "clusters": [
        {"partitioner": "k-member"},
        {"outliers": "regroup"},
        {"generalizer": "centroid"},
    ],
    "copula": [{"mechanism": "copula"}],
}
AUDITS = {
    "mondrian": ["distribution", "utility", "disclosure", "distance"],
    "kl-tree": ["cvpl", "fellegi-sunter", "sensitive-correlations"],
    "copula": ["cvpl-ensemble", "cvpl-progressive"],
    "full-domain": [{"auditor": "learning", "with": {"classifiers": ["naive-bayes"]}}],
}
TRANSPORTS = {"mondrian": "direct", "kl-tree": "dpf", "full-domain": "mixnet"}
SEALS = {"mondrian": "digest", "kl-tree": "merkle", "full-domain": "skip-list"}


def published(folder, name, sample):
    """Run a pipeline over a table, and return the outcome and the file's text."""
    sample.frame.to_csv(folder / "table.csv", index=False)
    sent = name in TRANSPORTS
    columns = {
        column.name: {
            "role": column.role,
            "type": column.type,
            # Identifiers are never sent.
            **({"pseudonymize": True} if column.role == "identifier" and not sent else {}),
        }
        for column in sample.schema
        if column.name not in ("note", "cost")
    }
    audits = [{"auditor": item} if isinstance(item, str) else item for item in AUDITS.get(name, [])]
    collect = {"transport": TRANSPORTS.get(name), "min_batch": 10}
    pipeline = {
        "version": 1,
        "seed": SEED,
        "data": {
            "source": "csv",
            "with": {"path": "table.csv"},
            "columns": columns,
            "holdout": 0.1,
        },
        "privacy": "none" if name == "copula" else [{"k-anonymity": {"k": 3}}],
        "suppression": {"at_most": 1},
        **({"collect": {"collector": "delivery", "with": collect}} if sent else {}),
        "stages": STAGES[name],
        "audit": audits,
        "publish": {"to": "out", "integrity": SEALS.get(name)},
    }
    (folder / "pipeline.yaml").write_text(yaml.safe_dump(pipeline, allow_unicode=True))
    return Pipeline.load(folder / "pipeline.yaml").publish()


def secrets_of(folder):
    """Seeds, salts and keys of a run, as texts."""
    private = folder / "out" / "private"
    noted = json.loads((private / "run.json").read_text())
    yield str(SEED)
    yield str(noted["seed_salt"])
    yield from noted.get("pseudonym_keys", {}).values()
    for file in private.iterdir():
        if "key" in file.name:
            yield from (line for line in file.read_text().splitlines() if len(line) > 30)


@pytest.mark.parametrize("name", STAGES)
def test_what_a_run_makes_is_shown_briefly_and_safely(name, caught, tmp_path):
    sample = with_names(loose_canaries() if name == "clusters" else canaries())
    sample = sample.take(range(60))
    outcome = published(tmp_path, name, sample)
    public = tmp_path / "out" / "public" / "release.csv"
    detector = CellDetector.of(sample.rows, sample.schema).allow_published(public.read_text())
    secret = tuple(secrets_of(tmp_path))
    wrong = []
    for cls, objects in caught.items():
        for item in objects:
            try:
                shown = repr(item)
            except AttributeError:
                continue  # it was never finished
            texts = [str(result) for result in detector.sightings(shown)]
            texts += ["a secret" for text in secret if text in shown]
            texts += [f"{len(shown)} characters"] if len(shown) > LONGEST_REPR else []
            wrong += [f"{cls.__module__}.{cls.__qualname__}: {what}" for what in texts[:1]]
    met = [cls for cls, objects in caught.items() if objects]
    print(f"{name}: {len(met)} of {len(caught)} classes met")
    assert [] == sorted(set(wrong))
    assert len(repr(outcome)) <= LONGEST_REPR
