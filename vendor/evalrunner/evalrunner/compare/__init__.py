"""What changed between two versions: pass rates, change classes, the from/to matrix, failure signatures, alignment.

Pure code without framework, clock or I/O: the site, its API and the command line call the same functions.
"""

from evalrunner.compare.changes import FOLDED, IMPROVEMENTS, MIRROR, REGRESSIONS, Change, Group, classify, group_of
from evalrunner.compare.clusters import CLUSTER_MIRROR, Cluster, ClusterChange, clusters_of
from evalrunner.compare.comparability import Difference, SideFacts, differences, redefined, usual_repetitions
from evalrunner.compare.conversations import Repetition, TurnDifference, TurnMark, turn_difference, typical_pair
from evalrunner.compare.definitions import definition_digest
from evalrunner.compare.engine import Comparison, Judgement, Row, compare, compare_samples, judge
from evalrunner.compare.ignoring import (
    DEFAULT_IGNORED,
    HiddenMember,
    IgnoreRules,
    RuleFault,
    hidden_members,
    ignore_rules,
    rule_faults,
    without,
)
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
from evalrunner.compare.paths import member_path, parse_path, path_text
from evalrunner.compare.sequences import align, common_subsequence
from evalrunner.compare.signatures import FailureSignature, failing_in_words, failure_signature
from evalrunner.compare.structures import DifferenceKind, Node, same_value, structural_difference
from evalrunner.compare.tally import DECIDED, STATUS_ORDER, Tally, percent_text, tally, tally_statuses
from evalrunner.compare.texts import Piece, PieceKind, text_difference
from evalrunner.compare.words import Phrase, difference_in_words, in_words, rates_in_words, sentence
from evalrunner.models import CaseStatus

__all__ = [
    "CLUSTER_MIRROR",
    "DECIDED",
    "DEFAULT_IGNORED",
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
    "DifferenceKind",
    "FailureSignature",
    "Group",
    "HiddenMember",
    "IgnoreRules",
    "Judgement",
    "Node",
    "Phrase",
    "Piece",
    "PieceKind",
    "Repetition",
    "Row",
    "RuleFault",
    "RunFacts",
    "RunOutcomes",
    "Sample",
    "SideFacts",
    "Tally",
    "TurnDifference",
    "TurnMark",
    "VariantId",
    "align",
    "case_outcome",
    "classify",
    "clusters_of",
    "common_subsequence",
    "compare",
    "compare_samples",
    "definition_digest",
    "difference_in_words",
    "differences",
    "failing_in_words",
    "failure_signature",
    "group_of",
    "hidden_members",
    "ignore_rules",
    "in_words",
    "judge",
    "lineages_of",
    "matrix_of",
    "member_path",
    "paired",
    "parse_path",
    "path_text",
    "percent_text",
    "rates_in_words",
    "redefined",
    "rule_faults",
    "run_facts",
    "run_outcomes",
    "same_value",
    "samples_of",
    "sentence",
    "structural_difference",
    "tally",
    "tally_statuses",
    "text_difference",
    "turn_difference",
    "typical_pair",
    "usual_repetitions",
    "without",
]
