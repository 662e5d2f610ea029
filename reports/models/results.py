"""Runs and what they hold. The cases of a run hang on a generation: see the package."""

import uuid

from django.db import models
from django.db.models import Q

from reports.models.definitions import ScenarioVariant, Signature, SuiteRevision, Version
from reports.models.people import Team, User
from reports.querysets import GenerationQuerySet, RunQuerySet

CASE_STATUSES = ("pending", "running", "passed", "failed", "error", "cancelled", "skipped", "blocked")
RUN_STATUSES = ("queued", "running", "completed", "cancelled", "limited", "interrupted", "rejected")


def _choices(*words: str) -> list[tuple[str, str]]:
    return [(word, word) for word in words]


class Run(models.Model):
    """One execution of a suite against a version.

    ``run_id`` and ``run_key`` are the report's ``runId`` and its key; empty and null until the first checkpoint.
    ``resumed_from`` and ``resumed_key`` are those of the run that it resumed or retried, empty for none.
    ``started_text`` and ``finished_text`` are the report's own times, ``started_at`` and ``finished_at`` their moments
    where they are one. ``ordered_at`` is never null: the start, else the creation. Counts are of cases by status.
    ``suite_assertions`` and ``suite_assertions_failed`` count the results of the suite's own assertions. ``head`` is a
    payload: the report's members without ``suite`` and ``cases``. ``is_passing``: completed, every case and every suite
    assertion passed. ``byte_size`` and ``content_hash`` are of the imported file, uncompressed.

    ``first_counts``, where the run resumed or retried another one that the team has, counts by status the attempts that
    rates count: the first decided one of each case in the lineage; null where they are the run's own. ``follow_up``
    says by what outcome of ``follows`` its scenarios were chosen; such a run joins no version and no gate. Empty for
    runs that were chosen before their outcome was known.

    ``change_due_at`` is null while ``change`` holds. Otherwise it waits since then to be counted anew, and nobody shows
    it; a moment to come is that of the worker who counts it now and has until then.
    """

    class FollowUp(models.TextChoices):
        FAILURES = "failures"
        BROKEN = "broken"
        FILTER = "filter"

    class Origin(models.TextChoices):
        UPLOAD = "upload"
        API = "api"
        WEB = "web"
        COMMAND = "command"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="runs")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="runs")
    revision = models.ForeignKey(SuiteRevision, on_delete=models.PROTECT, related_name="runs")
    generation = models.OneToOneField("Generation", on_delete=models.SET_NULL, null=True, related_name="current_run")
    run_id = models.TextField(blank=True, default="")
    run_key = models.CharField(max_length=32, null=True)
    resumed_from = models.TextField(blank=True, default="")
    resumed_key = models.CharField(max_length=32, blank=True, default="")
    status = models.CharField(max_length=11, choices=_choices(*RUN_STATUSES))
    total = models.PositiveIntegerField(default=0)
    pending = models.PositiveIntegerField(default=0)
    running = models.PositiveIntegerField(default=0)
    passed = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    error = models.PositiveIntegerField(default=0)
    cancelled = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    blocked = models.PositiveIntegerField(default=0)
    suite_assertions = models.PositiveIntegerField(default=0)
    suite_assertions_failed = models.PositiveIntegerField(default=0)
    is_passing = models.BooleanField(default=False)
    compatibility_fingerprint = models.TextField(blank=True, default="")
    started_text = models.TextField(blank=True, default="")
    finished_text = models.TextField(blank=True, default="")
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    ordered_at = models.DateTimeField()
    origin = models.CharField(max_length=10, choices=Origin.choices)
    format = models.CharField(max_length=20, default="report")
    file_name = models.TextField(blank=True, default="")
    byte_size = models.BigIntegerField(null=True)
    content_hash = models.CharField(max_length=64, blank=True, default="")
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="runs")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    head = models.BinaryField(default=b"")
    first_counts = models.JSONField(null=True)
    follow_up = models.CharField(max_length=10, choices=FollowUp.choices, blank=True, default="")
    follows = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="followed_by")
    change_due_at = models.DateTimeField(null=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "run_key"], name="run_once"),
            models.CheckConstraint(condition=Q(status__in=RUN_STATUSES), name="run_status_known"),
        ]
        indexes = [
            models.Index(fields=["team", "-ordered_at", "-id"], name="run_newest"),
            models.Index(fields=["version", "revision"], name="run_version"),
            models.Index(fields=["team", "resumed_key"], name="run_resumed"),
            models.Index(fields=["status", "created_at"], name="run_status"),
            models.Index(fields=["team"], condition=Q(status__in=("queued", "running")), name="run_unfinished"),
            models.Index(fields=["change_due_at"], condition=Q(change_due_at__isnull=False), name="run_change_due"),
        ]


class Generation(models.Model):
    """The cases of a run as one import or one execution wrote them.

    It is current while its run's ``generation`` points to it, and staged while nothing does. ``renewed_at`` moves while
    somebody writes; a staged one that stands still belongs to an import that died and is removed.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="generations")
    created_at = models.DateTimeField(auto_now_add=True)
    renewed_at = models.DateTimeField()

    objects = GenerationQuerySet.as_manager()


class Case(models.Model):
    """One executed conversation, identified by its place in the report.

    ``case_id``, ``thread_id`` and the like stand in ``payload``: the report's case without its turns. ``duration_ms``
    is the sum of its turns' durations. ``signature`` is null where nothing failed. ``failing`` says in words what
    failed first: step, assertion label or id, or error code; empty where nothing did.
    """

    id = models.BigAutoField(primary_key=True)
    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="cases", db_index=False)
    position = models.PositiveIntegerField()
    variant = models.ForeignKey(ScenarioVariant, on_delete=models.PROTECT, related_name="cases")
    repetition = models.BigIntegerField()
    name = models.TextField()
    status = models.CharField(max_length=10, choices=_choices(*CASE_STATUSES))
    error_code = models.TextField(blank=True, default="")
    skip_reason = models.TextField(blank=True, default="")
    duration_ms = models.FloatField(default=0)
    turn_count = models.PositiveIntegerField(default=0)
    signature = models.ForeignKey(Signature, on_delete=models.PROTECT, null=True, related_name="cases")
    failing = models.TextField(blank=True, default="")
    payload = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["generation", "position"], name="case_place"),
            models.CheckConstraint(condition=Q(status__in=CASE_STATUSES), name="case_status_known"),
        ]
        indexes = [
            models.Index(fields=["generation", "variant", "status"], name="case_variant"),
            models.Index(fields=["generation", "status", "position"], name="case_status"),
            models.Index(fields=["generation", "signature", "position"], name="case_signature"),
        ]


class Turn(models.Model):
    """One executed step of a case. ``payload`` is the report's whole turn; lists never read it."""

    id = models.BigAutoField(primary_key=True)
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="turns", db_index=False)
    position = models.PositiveIntegerField()
    step_id = models.TextField()
    status = models.CharField(max_length=10)
    error_code = models.TextField(blank=True, default="")
    duration_ms = models.FloatField()
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["case", "position"], name="turn_place")]


class CaseOutcomes(models.Model):
    """The cases of a generation as comparisons need them, kept once they have come to rest.

    ``payload`` holds ``reports.domain.outcomes.Outcomes``. Without a row the cases themselves are read.
    """

    generation = models.OneToOneField(Generation, on_delete=models.CASCADE, primary_key=True, related_name="outcomes")
    payload = models.BinaryField()


class RunChange(models.Model):
    """How a run changed against its baseline, and the verdict on that: what the comparison of both runs says.

    ``baseline`` is the one that ``reports.domain.baselines`` resolves. ``counts`` maps change classes to numbers of
    scenario variants above 0, redefined ones left out. ``sentence`` is the answer of the comparison, ``reason`` the
    first rule that speaks for the verdict, "" for none. ``basis`` is a digest of all that was judged, ``rules`` one of
    the rules (``reports.selectors.verdict_rules``): the same two give the same row. ``holds_until`` is the last day
    (UTC) of the first note to end on which it stands.
    """

    class Verdict(models.TextChoices):
        PASS = "pass"
        REGRESSED = "regressed"
        INCONCLUSIVE = "inconclusive"
        NOT_COMPARABLE = "not_comparable"

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="change")
    baseline = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    basis = models.CharField(max_length=64)
    rules = models.CharField(max_length=16, default="")
    counts = models.JSONField(default=dict)
    verdict = models.CharField(max_length=14, choices=Verdict.choices)
    sentence = models.TextField()
    reason = models.TextField(blank=True, default="")
    holds_until = models.DateField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["holds_until"], condition=Q(holds_until__isnull=False), name="run_change_holds")
        ]
