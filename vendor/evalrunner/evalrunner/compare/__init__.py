"""What changed between two versions: pass rates, change classes, the from/to matrix, failure signatures, alignment.

Pure code without framework, clock or I/O: the site, its API and the command line call the same functions.
"""

from evalrunner.compare.definitions import definition_digest
from evalrunner.compare.signatures import FailureSignature, failing_in_words, failure_signature
from evalrunner.compare.tally import DECIDED, STATUS_ORDER, Tally, percent_text, tally, tally_statuses
from evalrunner.models import CaseStatus

__all__ = [
    "DECIDED",
    "STATUS_ORDER",
    "CaseStatus",
    "FailureSignature",
    "Tally",
    "definition_digest",
    "failing_in_words",
    "failure_signature",
    "percent_text",
    "tally",
    "tally_statuses",
]
