"""psi, the latent projection (section 4.4): PCA, and its alternatives of Appendix B.2."""

import warnings
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.errors import UsageError
from anonloom.typing import Float32Array, FloatArray
from anonloom_linkage.vectors import Vectors

Method = Literal["pca", "none", "random", "robust", "umap"]
#: Numbers of tables.
Sides = tuple[int, ...]

#: Components of a random projection (Table 24).
RANDOM_COMPONENTS = 20
#: Neighbours of UMAP (Table 24).
NEIGHBOURS = 15
#: Rows that a robust covariance and UMAP are fitted on; both cost more than they tell beyond that.
FITTED_ROWS = 5_000
#: Eigenvalues below this share of the largest are rounding.
NO_VARIANCE = 1e-12


@attrs.frozen(eq=False)
class Linear:
    """A linear map of centred vectors.

    Attributes
    ----------
    matrix, offset
        A projected vector is (vector - offset) @ matrix.
    variances
        Variance along every component, descending; of the fitted tables.
    total
        Variance of the vectors.
    """

    vectors: Vectors
    matrix: FloatArray = attrs.field(repr=False)
    offset: FloatArray = attrs.field(repr=False)
    variances: FloatArray = attrs.field(repr=False)
    total: float

    @property
    def retained_share(self) -> float | None:
        """Share of the variance that is kept."""
        return float(self.variances.sum()) / self.total if self.total > 0 else None

    @property
    def components(self) -> int:
        """Number of components."""
        return int(self.matrix.shape[1])

    def of(self, side: int, rows: NDArray[np.integer] | None = None) -> Float32Array:
        """Project the rows of a table."""
        return self.vectors.project(side, self.matrix, self.offset, rows)


@attrs.frozen(eq=False)
class Embedding:
    """A map without a matrix: UMAP.

    Attributes
    ----------
    offset
        Middle of the rows that it was fitted on: directions are seen from there.
    """

    vectors: Vectors
    model: Any = attrs.field(repr=False)
    offset: FloatArray = attrs.field(repr=False)
    components: int
    retained_share: float | None = None
    _known: dict[int, Float32Array] = attrs.field(init=False, factory=dict, repr=False)

    def of(self, side: int, rows: NDArray[np.integer] | None = None) -> Float32Array:
        """Project the rows of a table; all at once, as each one's place depends on the others."""
        if side not in self._known:
            placed = self.model.transform(self.vectors.dense(side)) - self.offset
            self._known[side] = np.ascontiguousarray(placed, np.float32)
        return self._known[side] if rows is None else self._known[side][rows]


@attrs.frozen(kw_only=True)
class ProjectionSpec:
    """Which projection, and how it is fitted.

    Attributes
    ----------
    variance
        Share of the variance that the components keep together.
    least, most
        Fewest and most components.
    """

    method: Method = "pca"
    variance: float = 0.90
    least: int = 3
    most: int = 50

    def fit(self, vectors: Vectors, sides: Sides, rng: np.random.Generator) -> Linear | Embedding:
        """Fit the projection to the tables with these numbers."""
        if self.method == "umap":
            return self._umap(vectors, sides, rng)
        return self.from_moments(vectors, *self.moments(vectors, sides, rng), rng)

    def moments(
        self, vectors: Vectors, sides: Sides, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance that the projection is made of."""
        if self.method == "robust":
            return _robust_moments(vectors, sides, rng)
        return vectors.moments(*sides)

    def from_moments(
        self, vectors: Vectors, mean: FloatArray, covariance: FloatArray, rng: np.random.Generator
    ) -> Linear:
        """Make a linear projection of the moments of the vectors."""
        total = float(np.trace(covariance))
        if self.method == "none":
            identity = np.eye(vectors.width)
            return Linear(vectors, identity, mean, np.diag(covariance).copy(), total)
        if self.method == "random":
            components = min(RANDOM_COMPONENTS, vectors.width)
            matrix = rng.normal(size=(vectors.width, components)) / np.sqrt(components)
            along = np.einsum("ij,ik,kj->j", matrix, covariance, matrix)
            # Random directions overlap: the share that they keep is that of what they span.
            basis = np.linalg.qr(matrix)[0]
            kept = float(np.einsum("ij,ik,kj->", basis, covariance, basis))
            return Linear(vectors, matrix, mean, along * kept / max(along.sum(), 1e-300), total)
        values, directions = principal_components(covariance)
        kept_ = components_for(values, self.variance, self.least, self.most)
        return Linear(vectors, directions[:, :kept_], mean, values[:kept_], total)

    def _umap(self, vectors: Vectors, sides: Sides, rng: np.random.Generator) -> Embedding:
        try:
            import umap  # an optional extra
        except ImportError:
            raise UsageError(
                "projection 'umap' needs the package umap-learn",
                hint="pip install 'anonloom-cvpl[umap]'",
            ) from None
        sample = _sample(vectors, sides, rng)
        components = min(self.most, 10, sample.shape[1])
        model = umap.UMAP(
            n_neighbors=min(NEIGHBOURS, len(sample) - 1),
            n_components=components,
            random_state=int(rng.integers(2**31)),
            n_jobs=1,
        )
        model.fit(sample)
        return Embedding(vectors, model, np.asarray(model.embedding_).mean(axis=0), components)


def principal_components(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues in descending order and their directions, each with a sign that is its own.

    The largest entry of every direction is positive, so that runs agree.
    """
    values, directions = np.linalg.eigh(covariance)
    values, directions = values[::-1].clip(0.0), directions[:, ::-1]
    largest = np.abs(directions).argmax(axis=0)
    signs = np.sign(directions[largest, np.arange(directions.shape[1])])
    return values, directions * np.where(signs == 0, 1.0, signs)


def components_for(values: FloatArray, variance: float, least: int, most: int) -> int:
    """How many components keep that share of the variance, within the limits."""
    positive = int((values > NO_VARIANCE * max(float(values.max(initial=0.0)), 1e-300)).sum())
    cumulated = np.cumsum(values)
    wanted = int(np.searchsorted(cumulated, variance * cumulated[-1] * (1 - 1e-12))) + 1
    return max(min(max(wanted, least), most, positive), 1)


def _sample(vectors: Vectors, sides: Sides, rng: np.random.Generator) -> FloatArray:
    """Vectors of a sample of the rows that a projection is fitted on."""
    each = FITTED_ROWS // len(sides)
    dense = []
    for side in sides:
        size = vectors.rows(side)
        rows = np.sort(rng.choice(size, min(each, size), replace=False))
        dense.append(vectors.dense(side, rows))
    return np.vstack(dense)


def _robust_moments(
    vectors: Vectors, sides: Sides, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of the half of the rows that hang together most (MCD)."""
    try:
        from sklearn.covariance import MinCovDet  # an optional extra
    except ImportError:
        raise UsageError(
            "projection 'robust' needs the package scikit-learn",
            hint="pip install 'anonloom-cvpl[robust]'",
        ) from None
    sample = _sample(vectors, sides, rng)
    values, directions = principal_components(
        np.cov(sample.T, bias=True).reshape(vectors.width, -1)
    )
    # Indicators of one category add up to 1: without the directions in which nothing varies the
    # determinant that MCD makes small is not zero from the start.
    basis = directions[:, values > 1e-9 * max(float(values[0]), 1e-300)]
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        # Halves in which a rare category is constant make it warn of what is expected here.
        warnings.simplefilter("ignore")
        model = MinCovDet(random_state=seed).fit(sample @ basis)
    covariance = basis @ model.covariance_ @ basis.T
    return np.asarray(basis @ model.location_), np.asarray(covariance)
