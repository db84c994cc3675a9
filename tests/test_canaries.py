"""Whole pipelines over tables of canaries: no cell comes out that is not published.

Every method of this repository takes part in a run through the command line. Looked at: each file
below `public/` and its name, both streams of the terminal, all logs and warnings. Excused is what
the published frame or the pipeline file holds; columns that are not declared are looked for, too.
"""

import contextlib
import io
import sqlite3
import warnings
from collections import Counter

import pytest
import yaml

from anonloom_catalog import first_party_folders
from anonloom_cli import main
from anonloom_testing.canaries import (
    SEED,
    canaries,
    crowded_canaries,
    loose_canaries,
    with_names,
)
from anonloom_testing.cell_detector import CellDetector
from anonloom_testing.observation import collect_logs
from anonloom_testing.tables import Sample

#: What makes its rows itself, and what is no stage of a run (`outsource` has tests of its own).
APART = {("source", "diabetes"), ("source", "marketing"), ("integrity", "sentinels-twins")}

K = [{"k-anonymity": {"k": 3}}]
CUT = [{"partitioner": "mondrian"}, {"generalizer": "hierarchy"}]

#: Auditors with parameters that make them quick, or able to run at all.
AUDITORS = {
    "attribute-inference": {"attackers": ["logistic-regression"], "repeats": 2, "deals": 1},
    "learning": {"classifiers": ["naive-bayes", "decision-tree"], "repeats": 1},
    "distribution": {"samples": 3},
    "outsourcing": {"workers": 3, "lazy": 1, "budget": 12, "campaigns": 20, "judged": 4},
}


def use(kind, name, **parameters):
    return {kind: name, "with": parameters} if parameters else {kind: name}


def tried(kind, table):
    """Every pipeline of this repository's methods of one kind, on one table."""
    names = sorted(name for of, name in first_party_folders() if of == kind)
    special = {
        ("partitioner", "kl-tree"): {"picture": "conditions"},
        ("sampler", "stratified"): {"share": 0.7},
        ("sampler", "simple-random"): {"share": 0.7},
        ("sampler", "pre-sample"): {"rows": 90},
        ("mechanism", "drop-columns"): {"columns": ["outcome"]},
        ("mechanism", "round"): {"to": {"cost": 50_000_000}},
    }
    for name in names:
        if (kind, name) in APART:
            continue
        one = use(kind, name, **special.get((kind, name), {}))
        if kind == "partitioner":
            # What others replay, too: it is public only where somebody asks for it.
            yield name, {"stages": [one, CUT[1]], "publish": {"transformation": True}}
        elif kind == "outliers":
            yield name, {"stages": [CUT[0], one, CUT[1]]}
        elif kind == "generalizer":
            yield name, {"stages": [CUT[0], one]}
        elif kind == "sampler":
            stages = [*CUT, one] if name == "stratified" else [one, *CUT]
            yield name, {"stages": stages}
        elif kind == "mechanism":
            more = {"cost": {"role": "other", "type": "number"}} if name == "round" else {}
            yield name, {"stages": [one], "privacy": "none", "columns": more}
        elif kind == "auditor":
            audit = {"auditor": name, "with": AUDITORS.get(name, {})}
            traced = {"transport": "direct", "min_batch": 10, "traced": True}
            trace = {"collect": use("collector", "delivery", **traced)}
            # The table itself was published before, by somebody who did not ask.
            before = {"other_releases": ["table.csv"]}
            evidence = {"traffic": trace, "intersection": before}
            yield name, {"audit": [audit], **evidence.get(name, {})}
        elif kind == "collector":
            more = {"iterations": 2} if name == "anonify" and table is loose_canaries else {}
            collect = use(kind, name, transport="direct", min_batch=10, **more)
            yield name, {"collect": collect}
        elif kind == "transport":
            collect = use("collector", "delivery", transport=name, min_batch=10)
            yield name, {"collect": collect}
        elif kind == "privacy":
            models = {"l-diversity": {"l": 2}, "t-closeness": {"t": 0.6}}
            own = [{name: {**models[name], "of": "illness"}}] if name in models else []
            yield name, {"privacy": [*K, *own]}
        elif kind == "integrity":
            yield name, {"publish": {"integrity": name}}
        elif kind == "reporter":
            yield name, {"publish": {"reporters": [name], "intervals": "bounds"}}
        elif kind == "engine":
            yield name, {"engine": name}
        elif kind == "source":
            assert name in ("csv", "parquet", "sql")
            yield name, {"source": name}


def columns_of(sample):
    """Declare what may be published; `note` and `cost` are of the kind that is not."""
    declared = {}
    for column in sample.schema:
        if column.name in ("note", "cost"):
            continue
        one = {"role": column.role, "type": column.type}
        if column.name == "age" and column.hierarchy is not None:
            one |= {"publish": "nodes"}
            one["hierarchy"] = {"build": "widths", "widths": [50_000_000, 250_000_000]}
        elif column.hierarchy is not None:
            one["hierarchy"] = {"build": "prefix", "keep": [2]}
        declared[column.name] = one
    return declared


def pipeline_of(sample, change, folder):
    publish = {"formats": ["csv", "parquet"], "reporters": ["page"], "integrity": "digest"}
    source = change.get("source", "csv")
    place = {"path": f"table.{source}"}
    if source == "sql":
        place = {"url": f"sqlite:///{folder}/table.db", "table": "people"}
    return {
        "version": 1,
        "name": "birds",
        "seed": SEED,
        "data": {
            "source": source,
            "with": place,
            "holdout": 0.1,
            "columns": columns_of(sample) | change.get("columns", {}),
            **{key: change[key] for key in ("other_releases",) if key in change},
        },
        "privacy": change.get("privacy", K),
        "suppression": {"at_most": 1, "rows": "drop"},
        **{key: change[key] for key in ("collect", "engine") if key in change},
        "stages": change.get("stages", CUT),
        "audit": change.get("audit", []),
        "publish": {"to": "out", **publish, **change.get("publish", {})},
    }


class Looked:
    """What was looked at, and what was found there."""

    def __init__(self):
        self.runs, self.ended, self.sightings = Counter(), Counter(), []
        self.files = self.bytes = 0

    def at(self, folder, sample, pipeline, method):
        """Run a pipeline and look at everything that it says."""
        sample.frame.to_csv(folder / "table.csv", index=False)
        if pipeline["data"]["source"] == "parquet":
            sample.frame.to_parquet(folder / "table.parquet", index=False)
        if pipeline["data"]["source"] == "sql":
            with contextlib.closing(sqlite3.connect(folder / "table.db")) as database:
                sample.frame.to_sql("people", database, index=False)
        file = folder / "pipeline.yaml"
        file.write_text(yaml.safe_dump(pipeline, sort_keys=False, allow_unicode=True))
        return self.command(["run", str(file)], folder / "out", sample, file.read_text(), method)

    def command(self, words, out, sample, written, method):
        """Run a command and look at everything that it says and leaves in public."""
        code, message = overheard(words)
        self.runs[method] += 1
        self.ended[code] += 1
        public = out / "public"
        files = sorted(path for path in public.rglob("*") if path.is_file())
        frame = public / "release.csv"
        detector = CellDetector.of(sample.rows, sample.schema).allow_published(
            written, *([frame.read_text()] if frame.exists() else [])
        )
        message |= {path.relative_to(public).as_posix(): path.read_bytes() for path in files}
        message["names of files"] = " ".join(path.name for path in files)
        self.files += len(files)
        for where, text in message.items():
            data = text if isinstance(text, bytes) else text.encode()
            self.bytes += len(data)
            self.sightings += [
                f"{method}: {where}: {sighting}" for sighting in detector.sightings(data)
            ]
            # A plan shows whoever wrote the file what is in it.
            if str(SEED).encode() in data and words[0] != "plan":
                self.sightings.append(f"{method}: {where}: the seed")
        return code, message

    def __str__(self):
        return (
            f"{len(self.runs)} methods, {self.runs.total()} runs, {self.files} files, "
            f"{self.bytes / 1e6:.1f} MB; exit codes {dict(self.ended)}; "
            f"{len(self.sightings)} cells found"
        )


def overheard(words):
    """Run a command; return its exit code and everything that it said."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        warnings.catch_warnings(record=True) as warned,
        collect_logs() as logged,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        warnings.simplefilter("always")
        code = main(words)
    return code, {
        "stdout": out.buffer.getvalue(),
        "stderr": err.buffer.getvalue(),
        "log": "\n".join(logged),
        "warnings": "\n".join(str(item.message) for item in warned),
    }


KINDS = sorted({kind for kind, _ in first_party_folders()})


@pytest.mark.parametrize("kind", KINDS)
def test_no_cell_comes_out_of_any_method_that_is_not_published(kind, tmp_path):
    looked = Looked()
    makes = [canaries, loose_canaries] + [crowded_canaries] * (kind == "partitioner")
    for make in makes:
        sample = with_names(make())
        if kind in ("collector", "transport"):
            # Every row is sealed and sent, which takes its time.
            sample = sample.take(range(40))
        for name, change in tried(kind, make):
            folder = tmp_path / f"{make.__name__}-{name}"
            folder.mkdir()
            code, message = looked.at(folder, sample, pipeline_of(sample, change, folder), name)
            assert code in (0, 3), (name, message["stderr"])
    print(f"{kind}: {len(makes)} tables, {looked}")
    assert [] == looked.sightings
    assert {
        name for of, name in first_party_folders() if of == kind and (of, name) not in APART
    } == set(looked.runs)
    # What is refused says little: most must be published for this to show anything.
    assert looked.ended[0] >= 0.7 * looked.ended.total(), (kind, looked.ended)


def test_no_cell_comes_out_of_any_command(tmp_path):
    sample, looked = with_names(canaries()), Looked()
    audits = [{"auditor": name} for name in ("distribution", "utility", "disclosure")]
    folders = []
    for number, change in enumerate([{}, {"privacy": [{"k-anonymity": {"k": 5}}]}]):
        folder = tmp_path / str(number)
        folder.mkdir()
        change = {**change, "audit": audits, "publish": {"integrity": "merkle"}}
        pipeline = pipeline_of(sample, change, folder)
        code, message = looked.at(folder, sample, pipeline, "run")
        assert 0 == code, message["stderr"]
        folders.append(folder)
    first, second = (folder / "out" for folder in folders)
    file, table = folders[0] / "pipeline.yaml", folders[0] / "table.csv"
    release = first / "public" / "release.csv"
    others = Sample(_other_people(sample), sample.schema)
    others.frame.to_csv(tmp_path / "others.csv", index=False)
    control = ["--control", str(tmp_path / "others.csv")]
    transformation = str(first / "private" / "transformation.json")
    applied = ["--suppress-at-most", "1", "--to", str(tmp_path / "applied")]
    audited = [*control, "--to", str(tmp_path / "audited")]
    raw = ["audit", str(table), str(table), str(release), "--to", str(tmp_path / "raw")]
    for words, out, of in (
        (["check", str(file)], first, sample),
        (["plan", str(file)], first, sample),
        (["audit", str(table), str(release), "--pipeline", str(file), "--json"], first, sample),
        (["audit", str(table), str(release), "--pipeline", str(file), *control], first, others),
        (
            ["audit", str(table), str(release), "--pipeline", str(file), *audited],
            tmp_path / "audited",
            sample,
        ),
        (raw, tmp_path / "raw", sample),
        (["verify", str(first)], first, sample),
        (["prove", str(first), "--row", "3"], first, sample),
        (["compare", str(first), str(second)], first, sample),
        (
            ["apply", transformation, str(tmp_path / "others.csv"), *applied],
            tmp_path / "applied",
            others,
        ),
    ):
        written = file.read_text() + (first / "public" / "release.csv").read_text()
        code, message = looked.command(words, out, of, written, words[0])
        assert code in (0, 3), (words, message["stderr"])
    print(f"commands: {looked}")
    assert [] == looked.sightings


def _other_people(sample):
    """Other rows of the same columns: half of their cells are new, half as they were."""
    other = with_names(canaries(seed=97))
    return [
        mine if index % 2 else theirs
        for index, (mine, theirs) in enumerate(zip(sample.rows, other.rows, strict=True))
    ]


#: What goes wrong: the exit code, and what is changed of the table and of the pipeline.
FAILURES = {
    "k is too large": (3, {}, {"privacy": [{"k-anonymity": {"k": 500}}]}),
    "a limit is exceeded": (
        3,
        {},
        {"audit": [{"auditor": "distribution", "fail_if": {"jsd_mean": ">= 0"}}]},
    ),
    "no number": (4, {"age": "note"}, {}),
    "no date": (4, {"admitted": "note"}, {}),
    "no time": (4, {"seen": "name"}, {}),
    "a form of a release": (4, {"sex": "note"}, {"form": True}),
    "a value that the hierarchy lacks": (4, {}, {"tree": True}),
    "a column that the table lacks": (4, {}, {"absent": True}),
    "too much is suppressed": (
        3,
        {},
        {"stages": [use("partitioner", "full-domain", suppress_at_most=0.5), CUT[1]], "none": True},
    ),
    "a method that fails": (2, {}, {"stages": [{"partitioner": "vp-tree"}, CUT[1]], "bad": True}),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_no_cell_comes_out_of_a_run_that_fails(failure, tmp_path):
    expected, changed, change = FAILURES[failure]
    sample, looked = with_names(canaries()), Looked()
    rows = [dict(row) for row in sample.rows]
    for name, other in changed.items():
        for row in rows[:-1] if change.get("form") else rows[-2:]:
            row[name] = f"[{row[other]}, {row[other]}]" if change.get("form") else row[other]
    sample = Sample(rows, sample.schema)
    pipeline = pipeline_of(sample, change, tmp_path)
    columns = pipeline["data"]["columns"]
    if change.get("tree"):
        columns["sex"]["hierarchy"] = {"build": "tree", "tree": {"f": None, "m": None}}
    if change.get("absent"):
        columns["height"] = {"role": "quasi", "type": "number"}
    if change.get("none"):
        pipeline["suppression"]["at_most"] = 0
    if change.get("bad"):
        pipeline["stages"][0]["with"] = {"distance": "euclidean"}
    code, message = looked.at(tmp_path, sample, pipeline, failure)
    assert [] == looked.sightings
    assert expected == code, message["stderr"]
    assert not (tmp_path / "out").exists()
