"""What changed between two versions: pass rates, change classes, the from/to matrix, failure signatures, alignment.

Pure code without framework, clock or I/O: the site, its API and the command line call the same functions.
"""

from evalrunner.compare.changes import FOLDED, IMPROVEMENTS, MIRROR, REGRESSIONS, Change, Group, classify, group_of
from evalrunner.compare.clusters import CLUSTER_MIRROR, Cluster, ClusterChange, clusters_of
from evalrunner.compare.comparability import Difference, SideFacts, differences, redefined, usual_repetitions
from evalrunner.compare.definitions import definition_digest
from evalrunner.compare.engine import Comparison, Judgement, Row, compare, compare_samples, judge
from evalrunner.compare.matrix import MATRIX_ORDER, MISSING, Cell, matrix_of, paired
from evalrunner.compare.outcomes import (
    CaseOutcome,
    RunFacts,
    RunOutcomes,
    Sample,
    VariantId,
    case_outcome,
    lineages_of,
    run_facts,
    run_outcomes,
    samples_of,
)
from evalrunner.compare.signatures import FailureSignature, failing_in_words, failure_signature
from evalrunner.compare.tally import DECIDED, STATUS_ORDER, Tally, percent_text, tally, tally_statuses
from evalrunner.compare.words import Phrase, difference_in_words, in_words, rates_in_words, sentence
from evalrunner.models import CaseStatus

__all__ = [
    "CLUSTER_MIRROR",
    "DECIDED",
    "FOLDED",
    "IMPROVEMENTS",
    "MATRIX_ORDER",
    "MIRROR",
    "MISSING",
    "REGRESSIONS",
    "STATUS_ORDER",
    "CaseOutcome",
    "CaseStatus",
    "Cell",
    "Change",
    "Cluster",
    "ClusterChange",
    "Comparison",
    "Difference",
    "FailureSignature",
    "Group",
    "Judgement",
    "Phrase",
    "Row",
    "RunFacts",
    "RunOutcomes",
    "Sample",
    "SideFacts",
    "Tally",
    "VariantId",
    "case_outcome",
    "classify",
    "clusters_of",
    "compare",
    "compare_samples",
    "definition_digest",
    "difference_in_words",
    "differences",
    "failing_in_words",
    "failure_signature",
    "group_of",
    "in_words",
    "judge",
    "lineages_of",
    "matrix_of",
    "paired",
    "percent_text",
    "rates_in_words",
    "redefined",
    "run_facts",
    "run_outcomes",
    "samples_of",
    "sentence",
    "tally",
    "tally_statuses",
    "usual_repetitions",
]
