"""What PriSM costs and what it protects: accuracy and attacker's gain, with and without it.

    python benchmarks/prism.py [--rows 10000] [--splits 5] [--only adult-race]

Tables: the 13 rows of the paper's figure 1; Adult with each of three sensitive columns; a table
with a planted pair that no single attribute shows. For each one, sensitive correlations are looked
for in the learning part of every split, and judged on the rest:

- a linear SVM that may use everything, the sensitive column too;
- PrismSVC under the correlations that were found;
- a random forest that may use everything, and PrivateSelection of one.

The attacker learns critical values from 70 % of (at most 4,000) rows and is judged by the others,
with what each model would ask people for, and with the answers of that model. Gains are advantages,
2 AUC - 1, of the better of two attackers over the critical value that he infers best, less the same
with values dealt anew. Every table is written to results/prism.json as soon as it is done.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
from adult_table import adult_file
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import LeaveOneOut, StratifiedShuffleSplit

from anonloom_learning.scores import interval
from anonloom_prism.attack import People, Plan, infer
from anonloom_prism.attack_names import ATTACKERS
from anonloom_prism.discovery import discover
from anonloom_prism.knowledge import Both, Cells, Outputs, as_features
from anonloom_prism.private_selection import PrivateSelection
from anonloom_prism.svc import PrismSVC
from anonloom_prism.targets import targets

RESULT = Path(__file__).parent / "results" / "prism.json"
FIGURE_1 = Path(__file__).parents[1] / "plugins/auditors/prism/tests/figure_1.csv"
#: Share of the rows that judge.
JUDGES = 0.3
#: Most rows that an attack uses.
ATTACKED = 4000


@attrs.frozen(eq=False)
class Task:
    """A table, its label, and what must not be inferred.

    Attributes
    ----------
    search
        Parameters of the search for correlations.
    """

    name: str
    frame: pd.DataFrame = attrs.field(repr=False)
    label: str
    sensitive: str
    critical: tuple[str, ...]
    search: dict[str, Any]

    @property
    def x(self) -> pd.DataFrame:
        """All columns but the label."""
        return self.frame.drop(columns=self.label)

    @property
    def y(self) -> np.ndarray:
        """The label."""
        return self.frame[self.label].to_numpy(object).astype(str)

    def correlations(self, rows: np.ndarray) -> list[tuple[str, ...]]:
        """Return the sets that some rows show."""
        frame = self.frame.iloc[rows].reset_index(drop=True)
        there = set(frame[self.sensitive])
        result = discover(
            frame,
            self.sensitive,
            [value for value in self.critical if value in there],
            label=self.label,
            **self.search,
        )
        return sorted({tuple(sorted(item.attributes)) for item in result})


def figure_1() -> Task:
    """Make the paper's example; 13 rows prove nothing, so that chance is not guarded against."""
    frame = pd.read_csv(FIGURE_1).astype({"age": float})
    critical = ("bronchitis", "emphysema")
    search = {"alpha": None, "threshold": 0.6}
    return Task("figure 1", frame, "risk", "disease", critical, search)


def adult(rows: int, sensitive: str, critical: tuple[str, ...], **search: Any) -> Task:
    """Take complete rows of Adult, without years of schooling (`education`) and weights."""
    frame = pd.read_csv(adult_file(30_162))
    frame = frame.drop(columns=[c for c in ("fnlwgt", "education-num", "ID") if c in frame])
    frame = frame.sample(min(rows, len(frame)), random_state=1).reset_index(drop=True)
    return Task(f"adult, {sensitive}", frame, "salary-class", sensitive, critical, search)


def planted(rows: int) -> Task:
    """Make a table whose illness depends on whether two of ten attributes lie on one side."""
    rng = np.random.default_rng(4)
    columns: dict[str, Any] = {f"n{index}": rng.normal(size=rows) for index in range(6)}
    columns |= {f"c{index}": rng.choice(list("abcd"), rows) for index in range(4)}
    differ = (columns["n0"] > 0) != (columns["n1"] > 0)
    ill = rng.random(rows) < np.where(differ, 0.7, 0.05)
    score = 1.5 * columns["n0"] + 0.5 * columns["n1"] + columns["n2"] + 1.2 * ill
    score = score + (columns["c0"] == "a") + 0.5 * rng.normal(size=rows)
    columns["illness"] = np.where(ill, "ill", rng.choice(["flu", "cold"], rows))
    columns["label"] = np.where(score > np.median(score), "yes", "no")
    return Task("planted pair", pd.DataFrame(columns), "label", "illness", ("ill",), {})


def tasks(rows: int) -> dict[str, Callable[[], Task]]:
    """All tables, by name."""
    return {
        "figure-1": figure_1,
        "planted": lambda: planted(min(rows, 5000)),
        "adult-race": lambda: adult(rows, "race", ("Black", "Asian-Pac-Islander"), threshold=0.2),
        "adult-marital": lambda: adult(rows, "marital-status", ("Divorced", "Widowed")),
        "adult-country": lambda: adult(
            rows, "native-country", ("Mexico", "Philippines"), threshold=0.2
        ),
    }


def models(task: Task, correlations: list[tuple[str, ...]]) -> dict[str, Any]:
    """The four classifiers."""
    rule = {"sensitive": task.sensitive, "correlations": correlations}
    forest = RandomForestClassifier(100, min_samples_leaf=2, random_state=0)
    return {
        "linear SVM": PrismSVC(),
        "PrismSVC": PrismSVC(**rule),
        "forest": PrivateSelection(forest),
        "PrivateSelection": PrivateSelection(forest, **rule),
    }


def splits(task: Task, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Learning and judging rows; of a tiny table each row judges once."""
    if len(task.frame) < 50:
        return iter(LeaveOneOut().split(task.x))
    divider = StratifiedShuffleSplit(count, test_size=JUDGES, random_state=0)
    return iter(divider.split(task.x, task.y))


def accuracies(task: Task, count: int) -> dict[str, Any]:
    """Accuracy of all models on all splits, and what PrismSVC chose."""
    results: dict[str, list[float]] = {}
    chosen = []
    for learn, judge in splits(task, count):
        correlations = task.correlations(learn)
        labels, numbers = np.unique(task.y[learn], return_counts=True)
        majority = float((task.y[judge] == labels[numbers.argmax()]).mean())
        results.setdefault("majority", []).append(majority)
        for name, model in models(task, correlations).items():
            model.fit(task.x.iloc[learn], task.y[learn])
            score = float(model.score(task.x.iloc[judge], task.y[judge]))
            results.setdefault(name, []).append(score)
            if name == "PrismSVC":
                chosen.append(
                    {
                        "correlations": correlations,
                        "attributes": model.attributes_in_.tolist(),
                        "exact": bool(model.exact_),
                        "gap": float(model.gap_),
                        "by": model.selection_.by,
                    }
                )
    return {"accuracy": results, "chosen": chosen}


def attack(task: Task, plan: Plan) -> dict[str, Any]:
    """What is inferred from what the models ask for, and from their answers."""
    rng = np.random.default_rng(7)
    wanted = targets(task.frame[task.sensitive], "category", task.critical, 4)
    correlations = task.correlations(np.arange(len(task.frame)))
    private = models(task, correlations)["PrismSVC"].fit(task.x, task.y)
    rows = rng.permutation(len(task.frame))[:ATTACKED]
    x, labels = task.x.iloc[rows].reset_index(drop=True), np.unique(task.y, return_inverse=True)[1]
    people = People(attrs.evolve(wanted, classes=wanted.classes[rows]), np.arange(len(rows)))
    kept = private.attributes_in_.tolist()
    seen = {"before": x.drop(columns=task.sensitive), "after": x[kept]}
    used = {"before": x, "after": x[kept]}
    known: dict[str, Any] = {}
    for name, frame in seen.items():
        known[name] = Cells(as_features(frame))
        known[f"answers {name}"] = Outputs(lambda: clone(PrismSVC()), used[name], labels[rows])
        known[f"both {name}"] = Both(known[name], known[f"answers {name}"])
    inferred = infer(known, people, plan, np.random.default_rng(8))
    return {
        "correlations": correlations,
        "attributes": kept,
        "exact": bool(private.exact_),
        "gap": float(private.gap_),
        "gain": {
            name: None
            if item is None
            else {
                "excess": item.excess,
                "interval": item.interval(item.of_best() - item.by_chance),
                "accuracy gain": float(item.gain().mean()),
            }
            for name, item in inferred.items()
        },
    }


def line(record: dict[str, Any]) -> str:
    """One row of the table in Markdown."""
    accuracy = {name: np.array(values) for name, values in record["accuracy"].items()}
    whole, forest = accuracy["linear SVM"], accuracy["forest"]
    tiny = record["rows"] < 50

    def difference(values: np.ndarray, base: np.ndarray) -> str:
        lost = values - base
        ends = None if tiny else interval(lost, JUDGES / (1 - JUDGES))
        half = "" if ends is None else f" ± {(ends[1] - ends[0]) / 2:.3f}"
        return f"{lost.mean():+.3f}{half}"

    def gain(name: str) -> str:
        one = (record.get("attack") or {}).get("gain", {}).get(name)
        return "-" if one is None else f"{one['excess']:.2f}"

    cells = [
        record["name"],
        f"{record['rows']:,}",
        f"{accuracy['majority'].mean():.3f}",
        f"{whole.mean():.3f}",
        difference(accuracy["PrismSVC"], whole),
        f"{forest.mean():.3f}",
        difference(accuracy["PrivateSelection"], forest),
        *(
            f"{gain(f'{kind}before')} -> {gain(f'{kind}after')}"
            for kind in ("", "answers ", "both ")
        ),
    ]
    return "| " + " | ".join(cells) + " |"


HEADER = (
    "| table | rows | majority | linear SVM | PrismSVC | forest | PrivateSelection "
    "| gain: attributes | gain: answers | gain: both |\n" + "| --- " * 10 + "|"
)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=30_162)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument(
        "--only", action="append", choices=list(tasks(0)), help="a table; may be repeated"
    )
    parser.add_argument("--to", type=Path, default=RESULT)
    given = parser.parse_args()
    plan = Plan(attackers=ATTACKERS, repeats=given.splits, deals=3, share=JUDGES)
    records: dict[str, Any] = {}
    if given.only and given.to.is_file():
        records = json.loads(given.to.read_text(encoding="utf-8"))
    print(HEADER)
    for name, make in tasks(given.rows).items():
        if given.only and name not in given.only:
            continue
        start, task = time.process_time(), make()
        record = {"name": task.name, "rows": len(task.frame), **accuracies(task, given.splits)}
        if len(task.frame) >= 50:
            record["attack"] = attack(task, plan)
        record["cpu seconds"] = time.process_time() - start
        records[name] = record
        given.to.parent.mkdir(exist_ok=True)
        given.to.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
        print(line(record), flush=True)


if __name__ == "__main__":
    main()
