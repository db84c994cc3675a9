"""No pipeline publishes a table that breaks its own declared privacy.

Random tables and random pipelines; what is published is read back and judged by code that shares
nothing with the product: the csv module, dictionaries and the definitions of the papers. Rows may
be visits of persons, some of whom are not known, and texts may hold what nobody sees.

    python tests/test_promises.py 500 7      # as many pipelines, drawn by another seed
"""

import csv
import json
import math
import shutil
import sys
import tempfile
import unicodedata
from collections import Counter, defaultdict
from datetime import date, datetime
from pathlib import Path

import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from anonloom import Pipeline
from anonloom.errors import PrivacyError
from anonloom_catalog import first_party_folders

EXAMPLES = 200
LEAST_PUBLISHED = 0.6

ILLNESSES = ["flu", "cold", "asthma", "ulcer"]
TREE = {"lungs": ["flu", "cold", "asthma"], "stomach": ["ulcer"]}
JOBS = {"office": ["clerk", "lawyer"], "outdoor": {"field": ["farmer"], "sea": ["sailor", "diver"]}}


QUASI = {
    "age": ({"type": "number"}, st.integers(18, 70).map(str)),
    "weight": (
        {"type": "number", "hierarchy": {"build": "widths", "widths": [10, 20]}},
        st.sampled_from(["52.5", "61", "63", "70", "71.25", "88", "90"]),
    ),
    "sex": ({}, st.sampled_from(["f", "m"])),
    "zip": (
        {"hierarchy": {"build": "prefix", "keep": [3, 1]}},
        st.sampled_from(["01234", "01235", "01999", "55100", "55109"]),
    ),
    "job": (
        {"hierarchy": {"build": "tree", "tree": JOBS}},
        st.sampled_from(["clerk", "lawyer", "farmer", "sailor", "diver"]),
    ),
    "born": (
        {"type": "date"},
        st.dates(date(1980, 1, 1), date(1989, 12, 31)).map(date.isoformat),
    ),
    "seen": (
        {"type": "time"},
        st.datetimes(datetime(2024, 2, 28), datetime(2024, 3, 2)).map(datetime.isoformat),
    ),
    "team": ({"publish": "set"}, st.sampled_from(["red", "green", "blue"])),
}

MODELS = st.one_of(
    st.just([]),
    st.integers(2, 3).map(lambda least: [{"l-diversity": {"l": least, "of": "illness"}}]),
    st.sampled_from([1.2, 1.8]).map(
        lambda least: [{"l-diversity": {"l": least, "of": "illness", "kind": "entropy"}}]
    ),
    st.sampled_from([1.0, 2.0]).map(
        lambda c: [{"l-diversity": {"l": 2, "c": c, "of": "illness", "kind": "recursive"}}]
    ),
    st.sampled_from([0.3, 0.5, 0.8]).map(
        lambda t: [{"t-closeness": {"t": t, "of": "illness", "distance": "equal"}}]
    ),
)

HANDLERS = sorted(name for kind, name in first_party_folders() if kind == "outliers")
# Every method with its defaults, and ways to use it that make other classes.
VARIANTS = {
    "mondrian": [{"mode": "relaxed"}, {"cut": "widest"}],
    "vp-tree": [{"cut": "half", "categories": "hierarchy"}],
    "full-domain": [{"suppress_at_most": 0.3}],
    "local-recoding": [{"rest": "suppress"}],
    "kl-tree": [{"reuse": True}, {"task": "clustering"}],
}
PARTITIONERS = st.sampled_from(
    [
        {"partitioner": name, "with": parameters}
        for kind, name in sorted(first_party_folders())
        if kind == "partitioner"
        for parameters in ({}, *VARIANTS.get(name, ()))
    ]
)


#: Nobody sees these: zero width, soft hyphen, byte order mark, variation selector, bidi, control.
UNSEEN = ["\u200b", "\u00ad", "\ufeff", "\ufe0f", "\u202e", "\x07"]

#: A single person's rows, a row per person, or visits; and some whose person nobody knows.
PERSONS = ["rows", "rows", "identifier", "visits", "visits", "unknown"]


def adorned(draw, text):
    """Return a text that looks the same, or differs as people differ who type it."""
    index = draw(st.integers(0, len(text)))
    return text[:index] + draw(st.sampled_from(UNSEEN)) + text[index:]


def numbered(draw, rows, kind, hidden):
    """Give every row a number of its own, by which the judge finds its person again."""
    patients = max(2, len(rows) * 2 // 3)
    for index, row in enumerate(rows):
        number = index if kind == "identifier" else draw(st.integers(0, patients - 1))
        row["patient"] = f"patient {number}"
        if hidden and draw(st.booleans()):
            row["patient"] = adorned(draw, row["patient"].upper())
        if kind == "unknown" and draw(st.integers(0, 5)) == 0:
            row["patient"] = ""
        row["tag"] = str(index)
    roles = {"visits": {"role": "person"}, "identifier": {"role": "identifier"}}
    return {
        "patient": roles.get(kind, {"role": "person", "missing": "suppress"}),
        "tag": {"role": "other", "type": "number"},
    }


@st.composite
def cases(draw):
    """Return a table as rows of text, and a pipeline for it."""
    kind = draw(st.sampled_from(PERSONS))
    hidden = draw(st.integers(0, 2)) == 0
    names = draw(st.lists(st.sampled_from(sorted(QUASI)), min_size=1, max_size=4, unique=True))
    # A number of its own in 50 rows or more would name them, and stop the release.
    n = draw(st.integers(12, 60 if kind == "rows" else 45))
    gaps = draw(st.sampled_from(["none", "none", "own", "suppress"]))
    rows = []
    for _ in range(n):
        row = {name: draw(QUASI[name][1]) for name in names}
        if gaps != "none" and draw(st.integers(0, 9)) == 0:
            row[names[0]] = ""
        row["illness"] = draw(st.sampled_from(ILLNESSES))
        row["outcome"] = draw(st.sampled_from(["worse", "better"]))
        if hidden:
            texts = [name for name in ("sex", "zip", "job", "team") if name in row]
            for name in (*texts, "illness"):
                row[name] = adorned(draw, row[name]) if draw(st.booleans()) else row[name]
        rows.append(row)
    columns = {name: {"role": "quasi", **QUASI[name][0]} for name in names}
    if gaps != "none":
        columns[names[0]]["missing"] = gaps
    columns["illness"] = {"role": "sensitive", "hierarchy": {"build": "tree", "tree": TREE}}
    columns["outcome"] = {"role": "label"}
    if kind != "rows":
        columns |= numbered(draw, rows, kind, hidden)
    stages = [draw(PARTITIONERS)]
    if draw(st.integers(0, 5)) == 0:
        stages.insert(0, {"mechanism": "perturb", "with": {"columns": names}})
    if draw(st.integers(0, 7)) == 0:
        stages.insert(0, {"sampler": "simple-random", "with": {"share": 0.8}})
    if draw(st.booleans()):
        stages.append({"outliers": draw(st.sampled_from(HANDLERS))})
    stages.append({"generalizer": draw(st.sampled_from(["hierarchy", "hierarchy", "sets"]))})
    if draw(st.integers(0, 3)) == 0:
        stages.append(
            {"sampler": "stratified", "with": {"share": draw(st.sampled_from([0.5, 0.8]))}}
        )
    k = draw(st.integers(2, 6))
    suppression = {
        "at_most": draw(st.sampled_from([0, 0.3, 1, 1])),
        "rows": draw(st.sampled_from(["star", "drop"])),
    }
    pipeline = {
        "version": 1,
        "seed": draw(st.integers(0, 1000)),
        "data": {"source": "csv", "with": {"path": "table.csv"}, "columns": columns},
        "privacy": [{"k-anonymity": {"k": k}}, *draw(MODELS)],
        "suppression": suppression,
        "stages": stages,
        "audit": draw(st.sampled_from([[], [], ["utility"], ["disclosure", "distribution"]])),
        "publish": {"to": "out", "reporters": []},
    }
    if draw(st.integers(0, 5)) == 0:
        pipeline["publish"]["integrity"] = draw(st.sampled_from(["digest", "merkle"]))
    # Delivery sends rows by themselves, and knows nothing of persons or of what is missing.
    if kind == "rows" and gaps == "none" and draw(st.integers(0, 5)) == 0:
        parameters = {"transport": "direct", "servers": 2, "min_batch": 2}
        pipeline["collect"] = {"collector": "delivery", "with": parameters}
    return rows, pipeline


def seen(text):
    """What a reader sees of a text, whatever case and blanks."""
    marks = [c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c)[0] != "C"]
    return " ".join("".join(marks).replace("\ufe0f", "").casefold().split())


def persons_of(given_rows, pipeline):
    """Return the person of every row by its number; rows are persons where nothing else is said."""
    if pipeline["data"]["columns"].get("patient", {}).get("role") != "person":
        return None
    return {row["tag"]: seen(row["patient"]) for row in given_rows}


def judge(release, names, pipeline, given_rows):
    """Return what is wrong with a published table; nothing if all declared models hold."""
    classes = defaultdict(set)
    starred = 0
    wrong = []
    persons = persons_of(given_rows, pipeline)
    for number, row in enumerate(release):
        wrong += [f"unseen in {name}" for name in names if set(UNSEEN) & set(row[name])]
        cells = tuple(row[name] for name in names)
        if all(cell == "*" for cell in cells):
            starred += 1
            # A starred row says nothing, and is no part of what classes are compared with.
            wrong += [name for name in row if name not in names and row[name] != ""]
        else:
            person = number if persons is None else persons[row["tag"]]
            wrong += ["nobody knows whose"] if person == "" else []
            # A person counts once for every value that he or she has.
            classes[cells].add((person, seen(row["illness"])))
    everybody = set().union(*classes.values())
    overall = Counter(illness for _, illness in everybody)
    for model in pipeline["privacy"]:
        ((name, parameters),) = model.items()
        for members in classes.values():
            counts = Counter(illness for _, illness in members)
            if name == "k-anonymity":
                holds = len({person for person, _ in members}) >= parameters["k"]
            else:
                holds = HOLDS[name, parameters.get("kind", "")](parameters, counts, overall)
            wrong += [] if holds else [name]
    # A sampler leaves rows out on purpose; otherwise every row that is not there was suppressed.
    sampled = any("sampler" in stage for stage in pipeline["stages"])
    total = len(release) if sampled else len(given_rows)
    lost = starred + total - len(release)
    if lost > pipeline["suppression"]["at_most"] * total + 1e-9:
        wrong.append("suppression")
    return wrong


def entropy_holds(parameters, counts, overall):
    total = sum(counts.values())
    entropy = -sum(c / total * math.log(c / total) for c in counts.values())
    return entropy >= math.log(parameters["l"]) - 1e-9


def recursive_holds(parameters, counts, overall):
    ordered = sorted(counts.values(), reverse=True)
    return ordered[0] < parameters["c"] * sum(ordered[parameters["l"] - 1 :])


def near(parameters, counts, overall):
    size, whole = sum(counts.values()), sum(overall.values())
    distance = sum(abs(counts[v] / size - overall[v] / whole) for v in overall) / 2
    return distance <= parameters["t"] + 1e-9


HOLDS = {
    ("l-diversity", ""): lambda p, counts, _: len(counts) >= p["l"],
    ("l-diversity", "entropy"): entropy_holds,
    ("l-diversity", "recursive"): recursive_holds,
    ("t-closeness", ""): near,
}


def ended(examples, drawn_by=None):
    """Try as many pipelines; return how they ended. Nothing that is published breaks a promise."""
    count = Counter()

    @settings(
        max_examples=examples,
        deadline=None,
        phases=[Phase.generate],
        derandomize=drawn_by is None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def every_case(case):
        rows, pipeline = case
        folder = Path(tempfile.mkdtemp(prefix="promises-"))
        try:
            with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)
            (folder / "pipeline.yaml").write_text(yaml.safe_dump(pipeline, sort_keys=False))
            try:
                Pipeline.load(folder / "pipeline.yaml").publish()
            except PrivacyError:
                count["refused"] += 1
                assert not (folder / "out").exists()
                return
            count["published"] += 1
            with (folder / "out" / "public" / "release.csv").open(encoding="utf-8") as file:
                release = list(csv.DictReader(file))
            others = ("illness", "outcome", "patient", "tag")
            names = [name for name in rows[0] if name not in others]
            assert [] == judge(release, names, pipeline, rows), json.dumps(pipeline)
        finally:
            shutil.rmtree(folder)

    (every_case if drawn_by is None else seed(drawn_by)(every_case))()
    return count


def test_of_many_random_pipelines_most_publish_and_none_breaks_its_promise():
    """At least 60 % of 200 publish; nothing that is published violates a declared model."""
    count = ended(EXAMPLES)
    assert EXAMPLES <= sum(count.values())
    assert count["published"] / sum(count.values()) >= LEAST_PUBLISHED, count


if __name__ == "__main__":
    print(dict(ended(int(sys.argv[1]), int(sys.argv[2]))))
