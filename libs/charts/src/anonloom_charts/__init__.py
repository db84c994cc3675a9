"""Charts over the runs of an experiment, which several auditors give."""

from anonloom_charts.experiment_charts import (
    column_heat,
    figure_over_parameter,
    numeric_parameter,
)

__all__ = ["column_heat", "figure_over_parameter", "numeric_parameter"]
