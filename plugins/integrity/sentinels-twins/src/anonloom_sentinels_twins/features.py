"""What a worker sees of a row, as numbers: values, words, and the way in which they are written."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonloom.lazy import pd

Matrix = NDArray[np.float32]

#: Bins of a number; words and shapes of cells that get a feature of their own.
_BINS, _WORDS, _SHAPES = 12, 24, 12
#: A column is one of numbers when at least this share of its cells can be read as such.
_NUMERIC = 0.5
#: Random trees, and splits on the way to a leaf: each leaf is a combination of columns.
_TREES, _DEPTH = 24, 3


def features_of(rows: "pd.DataFrame", seed: int) -> Matrix:
    """Return one line of features per row; they are drawn from all rows alike.

    Nothing here depends on which rows are controls: a test that permutes that stays exact.
    """
    columns = [_column(rows.iloc[:, place]) for place in range(rows.shape[1])]
    # Each column weighs the same, however many words it has.
    parts = [_scale(features) for features, _ in columns]
    if len(columns) > 1:
        orders = np.column_stack([order for _, order in columns])
        parts.append(_tree_leaves(orders, seed) * np.sqrt(len(columns)).astype(np.float32))
    return np.hstack(parts) if parts else np.zeros((len(rows), 0), dtype=np.float32)


def _column(cells: Any) -> tuple[Matrix, Matrix]:
    """Return the features of one column, and one number per cell that orders them."""
    codes, texts = _texts(cells)
    numbers = np.asarray(pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce"), float)
    seen = np.bincount(codes[codes >= 0], minlength=len(texts))
    shape_codes, shapes = _factorize([_shape(text) for text in texts])
    parts = [(codes < 0).astype(np.float32)[:, None]]
    order = codes.astype(np.float32)
    if seen[np.isfinite(numbers)].sum() >= _NUMERIC * max(seen.sum(), 1) and len(texts):
        read = _of(codes, numbers)
        order = pd.Series(read).rank(pct=True).fillna(-1.0).to_numpy(np.float32)
        bins = np.where(order > 0, np.ceil(order * _BINS), -1).astype(np.int64)
        parts += [order[:, None], _one_hot(bins, _BINS + 1)]
        parts.append(_one_hot(_of(codes, _last_digits(texts), -1), 10))
    parts.append(_one_hot(_frequent(codes, seen, _WORDS), _WORDS))
    shape_of = _of(codes, shape_codes, -1)
    often = np.bincount(shape_of[shape_of >= 0], minlength=len(shapes))
    parts.append(_one_hot(_frequent(shape_of, often, _SHAPES), _SHAPES))
    return np.hstack(parts), order


def _texts(cells: Any) -> tuple[NDArray[np.int64], list[str]]:
    """Return the place of each cell's text in the list of all, -1 where it is missing."""
    codes, values = pd.factorize(cells)
    places, texts = _factorize([_text(value) for value in values])
    return np.asarray(_of(codes, places, -1), dtype=np.int64), texts


def _factorize(texts: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Return the place of each text in the list of all, which is sorted.

    In the order of rows, known ones first, the place of a rare text would tell the side.
    """
    places, result = pd.factorize(np.array(texts, dtype=object), sort=True)
    return np.asarray(places, dtype=np.int64), list(result)


def _text(value: object) -> str:
    """Return a cell as the file of a worker shows it."""
    return repr(float(value)) if isinstance(value, float) else str(value)


def _shape(text: str) -> str:
    """Return how a cell is written: `12.50` is 99.99, `Ab c` is Aa a."""
    shape = re.sub(r"\d", "9", text[:24])
    shape = re.sub(r"[^\W\d_]+", lambda word: _case(word.group()), shape)
    return shape


def _case(word: str) -> str:
    return "A" if word.isupper() else "a" if word.islower() else "Aa"


def _last_digits(texts: list[str]) -> NDArray[np.int64]:
    """Return the last digit of every text that ends in one, else -1: rounded numbers show there."""
    return np.array([ord(t[-1]) - 48 if t and t[-1] in "0123456789" else -1 for t in texts], int)


def _of(codes: NDArray[Any], values: NDArray[Any], missing: float = np.nan) -> NDArray[Any]:
    """Return the value of each code; `missing` where the code is -1."""
    return np.asarray(np.append(values, np.asarray(missing, dtype=values.dtype))[codes])


def _frequent(codes: NDArray[Any], seen: NDArray[Any], most: int) -> NDArray[np.int64]:
    """Return the rank of each code by frequency; -1 for rare ones."""
    ranks = np.full(len(seen), -1, dtype=np.int64)
    first = np.argsort(-seen, kind="stable")[:most]
    ranks[first] = np.arange(len(first))
    return np.asarray(_of(codes, ranks, -1), dtype=np.int64)


def _one_hot(codes: NDArray[np.int64], width: int) -> Matrix:
    """Return one column per code; codes below 0 have none."""
    hot = np.zeros((len(codes), width + 1), dtype=np.float32)
    hot[np.arange(len(codes)), codes] = 1.0
    return hot[:, :width]


def _scale(features: Matrix) -> Matrix:
    """Centre and scale features: rare ones weigh somewhat less, constant ones nothing."""
    centred = features - features.mean(axis=0)
    spread = centred.std(axis=0)
    varied = spread > 0
    # A feature that one row in a thousand has would otherwise outweigh all others in that row.
    centred = centred[:, varied] / np.sqrt(spread[varied])
    size = np.sqrt((centred**2).sum(axis=1).mean()) if centred.size else 0.0
    return np.asarray(centred / size if size > 0 else centred, dtype=np.float32)


def _tree_leaves(orders: Matrix, seed: int) -> Matrix:
    """Return the leaves of random trees: what several columns say together."""
    from sklearn.ensemble import RandomTreesEmbedding

    trees = RandomTreesEmbedding(
        n_estimators=_TREES, max_depth=_DEPTH, sparse_output=False, random_state=seed
    )
    return _scale(np.asarray(trees.fit_transform(orders), dtype=np.float32))
