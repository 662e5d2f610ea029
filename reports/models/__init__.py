"""Tables. Everything belongs to a team; texts from outside are stored in the form of ``reports.text``.

A run's cases hang on a *generation*: an import stages a new one in many short transactions, invisible until the run's
``generation`` points to it. Whoever reads the cases of a run reads those of ``run.generation`` and of nothing else.
"""

from reports.models.definitions import Scenario, ScenarioVariant, Signature, Suite, SuiteRevision, Target, Version
from reports.models.jobs import Execution, ImportJob, RunEvent, Shard
from reports.models.people import ApiToken, Membership, SignInLink, Team, User
from reports.models.results import CASE_STATUSES, RUN_STATUSES, Case, CaseOutcomes, Generation, Run, RunChange, Turn
from reports.models.triage import AcceptedDefinition, AuditEntry, Baseline, BaselineChange, ComparisonLook, Note

__all__ = [
    "CASE_STATUSES",
    "RUN_STATUSES",
    "AcceptedDefinition",
    "ApiToken",
    "AuditEntry",
    "Baseline",
    "BaselineChange",
    "Case",
    "CaseOutcomes",
    "ComparisonLook",
    "Execution",
    "Generation",
    "ImportJob",
    "Membership",
    "Note",
    "Run",
    "RunChange",
    "RunEvent",
    "Scenario",
    "ScenarioVariant",
    "Shard",
    "SignInLink",
    "Signature",
    "Suite",
    "SuiteRevision",
    "Target",
    "Team",
    "Turn",
    "User",
    "Version",
]
