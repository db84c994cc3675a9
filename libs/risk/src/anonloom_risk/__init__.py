"""What risk auditors share: attacks that are tried on a copy and on strangers, on one scale."""

from anonloom_risk.alike import Alike, attainable, number_alike
from anonloom_risk.answers import Answers, alike_by_value
from anonloom_risk.covering_rows import CoveringRows
from anonloom_risk.nearest_rows import NearestRows, align_evidence
from anonloom_risk.passes import Passes
from anonloom_risk.right_rows import right_rows
from anonloom_risk.risk_auditor import RiskAuditor

__all__ = [
    "Alike",
    "Answers",
    "CoveringRows",
    "NearestRows",
    "Passes",
    "RiskAuditor",
    "alike_by_value",
    "align_evidence",
    "attainable",
    "number_alike",
    "right_rows",
]
