"""Source marketing: simulated touchpoints between advertising and purchases."""

from typing import Any

import attrs
import numpy as np

from anonloom import Schema, Source, StageContext, Table, param
from anonloom.cells import moment_texts
from anonloom.data import check_columns
from anonloom.lazy import pa, pc, pd
from anonloom.params import at_least, between
from anonloom_marketing import population as facts
from anonloom_marketing.anomalies import RARE_CHANNELS
from anonloom_marketing.touchpoints import Touchpoints, simulate

COLUMNS = (
    "person_id",
    "age",
    "gender",
    "region",
    "brand_product",
    "purchase_place",
    "purchase_time",
    "days_after_ad",
    "ad_channel",
)


@attrs.frozen(kw_only=True)
class Marketing(Source):
    """Makes a table in which demographics, channel, lag and purchase hang together.

    The rows follow from the run's seed; nobody in them exists.
    """

    rows: int = param(
        help="Number of persons; each has one row.", default=10_000, check=at_least(1)
    )
    outliers: float = param(
        help="Share of rows that are anomalies, a quarter of them of each kind.",
        default=0.0,
        check=between(0, 1),
    )
    products: int = param(help="Number of products.", default=50, check=between(10, 1000))

    def load(self, schema: Schema, context: StageContext) -> Table:
        """Simulate the rows, and keep the declared columns.

        All columns are drawn whatever is declared, so that a declaration changes no cell.

        Raises
        ------
        DataError
            When a column is declared that there is not.
        """
        check_columns(COLUMNS, schema)
        result = simulate(self.rows, self.products, self.outliers, context.rng)
        columns = {name: _column(name, result, schema, self.products) for name in schema.names}
        return Table.build(pd.DataFrame(columns), schema)

    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return COLUMNS


def _column(name: str, found: Touchpoints, schema: Schema, products: int) -> Any:
    if name == "person_id":
        return _numbered_names("p", np.arange(1, len(found.age) + 1), 7)
    if name == "age":
        return found.age
    if name == "days_after_ad":
        return found.lag
    if name == "purchase_time":
        moments = facts.FIRST_DAY.astype("datetime64[s]") + found.seconds.astype("m8[s]")
        # To a category a moment is a text like any other.
        return moment_texts(moments, "s") if schema[name].type == "category" else moments
    codes, names = {
        "gender": (found.gender, facts.GENDERS),
        "region": (found.region, facts.REGIONS),
        "brand_product": (
            found.product,
            _numbered_names("product-", np.arange(1, products + 1), 2),
        ),
        "purchase_place": (found.place, facts.PLACES),
        "ad_channel": (found.channel, (*facts.CHANNELS, *RARE_CHANNELS)),
    }[name]
    return pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype="str"))


def _numbered_names(prefix: str, numbers: Any, width: int) -> Any:
    """Names such as p0000001."""
    padded = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")
    return pc.binary_join_element_wise(prefix, padded, "").to_pandas()
