"""Tables. Everything belongs to a team; texts from outside are stored in the form of ``reports.text``.

A run's cases hang on a *generation*: an import stages a new one in many short transactions, invisible until the run's
``generation`` points to it. Whoever reads the cases of a run reads those of ``run.generation`` and of nothing else.
"""

import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q

from reports.querysets import GenerationQuerySet, RunQuerySet, TeamQuerySet

CASE_STATUSES = ("pending", "running", "passed", "failed", "error", "cancelled", "skipped", "blocked")
RUN_STATUSES = ("queued", "running", "completed", "cancelled", "limited", "interrupted", "rejected")


def _choices(*words: str) -> list[tuple[str, str]]:
    return [(word, word) for word in words]


class User(AbstractUser):
    """A person. ``theme`` is "", "light" or "dark"; empty follows the system."""

    theme = models.CharField(max_length=5, blank=True, default="")


class Team(models.Model):
    """``policy`` is the TOML by which comparisons are judged; "" for the defaults.

    ``ignored`` lists the members that the side by side leaves out at any depth; None for the usual ones.
    """

    name = models.CharField(max_length=200, unique=True)
    policy = models.TextField(blank=True, default="")
    ignored = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's role in a team. Each role includes the ones before it in ``Role``."""

    class Role(models.TextChoices):
        VIEWER = "viewer"
        RUNNER = "runner"
        TRIAGER = "triager"
        ADMIN = "admin"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="membership_once")]


class SignInLink(models.Model):
    """A one-time address that signs a person in. Only the SHA-256 of its token is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_in_links")
    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)


class ApiToken(models.Model):
    """A bearer token of a member. Only its SHA-256 is kept; it ends with its maker's membership."""

    class Scope(models.TextChoices):
        READ = "read"
        WRITE = "write"
        TRIAGE = "triage"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="api_tokens")
    maker = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=200)
    scope = models.CharField(max_length=10, choices=Scope.choices)
    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)


class Target(models.Model):
    """What is evaluated. ``target_id`` is the report's ``target.id``; ``key`` its ``text_key``."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="targets")
    key = models.CharField(max_length=32)
    target_id = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "key"], name="target_once")]


class Version(models.Model):
    """A target at one fingerprint."""

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="versions")
    key = models.CharField(max_length=32)
    fingerprint = models.TextField()
    label = models.CharField(max_length=200, blank=True, default="")
    first_seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["target", "key"], name="version_once")]


class Suite(models.Model):
    """A suite by its id; ``name`` is that of the newest revision."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="suites")
    key = models.CharField(max_length=32)
    suite_id = models.TextField()
    name = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "key"], name="suite_once")]


class SuiteRevision(models.Model):
    """One content of a suite. ``digest`` is the SHA-256 of its canonical JSON, ``definition`` a payload."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="revisions")
    digest = models.CharField(max_length=64)
    scenario_count = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    definition = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["suite", "digest"], name="suite_revision_once")]


class Scenario(models.Model):
    """A scenario as one suite revision defines it.

    ``definition_digest`` leaves out name, description, tags, metadata and labels: while it stays, results compare.
    ``tags`` is a list of texts. ``position`` is its place in the suite. ``definition`` is a payload: the scenario
    alone, so that a page about one case need not read the whole suite.
    """

    revision = models.ForeignKey(SuiteRevision, on_delete=models.CASCADE, related_name="scenarios")
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=32)
    scenario_id = models.TextField()
    name = models.TextField()
    tags = models.JSONField(default=list)
    write_policy = models.CharField(max_length=10)
    definition_digest = models.CharField(max_length=64)
    definition = models.BinaryField(default=b"")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["revision", "key"], name="scenario_once")]


class ScenarioVariant(models.Model):
    """A scenario with one chosen variant per step: what gets compared.

    ``key`` is ``keys.variant_key``, ``scenario_key`` the ``text_key`` of the scenario id, ``variants`` maps step id to
    variant id (texts in stored form).
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="scenario_variants")
    key = models.CharField(max_length=32)
    scenario_key = models.CharField(max_length=32)
    scenario_id = models.TextField()
    variants = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "key"], name="scenario_variant_once")]
        indexes = [models.Index(fields=["team", "scenario_key"], name="scenario_variant_scenario")]


class Signature(models.Model):
    """What failed, regardless of which case (DESIGN: failure signature).

    ``scope`` is "turn", "scenario" or "case"; ``assertions`` a sorted list of assertion id paths (lists of ids).
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="signatures")
    key = models.CharField(max_length=32)
    scope = models.CharField(max_length=10)
    step_id = models.TextField(blank=True, default="")
    assertions = models.JSONField(default=list)
    error_code = models.TextField(blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "key"], name="signature_once")]


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


class RunChange(models.Model):
    """How a run changed against its baseline: scenario variants counted by change class, redefined ones left out.

    ``baseline`` is the one that ``reports.domain.baselines`` resolves. The two generations tell what was counted.
    ``counts`` maps change classes to numbers above 0.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="change")
    baseline = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    generation = models.BigIntegerField(null=True)
    baseline_generation = models.BigIntegerField(null=True)
    counts = models.JSONField(default=dict)


class Execution(models.Model):
    """How this site executes a run: the request, who asked, and the worker that holds it.

    ``target_name`` names the runnable target, ``request`` the options of the runner. ``idempotency_key`` (a hash of
    team and the asker's own key; empty for none) makes a repeated request the same run. A worker claims the row by
    setting ``claim_token``; it renews ``lease_expires_at`` while it lives. ``stop_reason`` says in words why the site
    itself cancelled or rejected. ``error_code`` and ``error_paths`` are those of a run that could not begin or broke
    off. ``continues`` is the run that this one resumes or retries, as ``verb`` says.
    """

    class Verb(models.TextChoices):
        RUN = "run"
        RESUME = "resume"
        RETRY = "retry"

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="execution")
    verb = models.CharField(max_length=6, choices=Verb.choices, default=Verb.RUN)
    continues = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="continued_by")
    target_name = models.CharField(max_length=160)
    request = models.JSONField()
    idempotency_key = models.CharField(max_length=64, blank=True, default="")
    claim_token = models.CharField(max_length=32, blank=True, default="")
    claimed_at = models.DateTimeField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    cancel_requested_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    stop_reason = models.TextField(blank=True, default="")
    error_code = models.TextField(blank=True, default="")
    error_paths = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["idempotency_key"], condition=~Q(idempotency_key=""), name="execution_requested_once"
            )
        ]
        indexes = [models.Index(fields=["claim_token", "lease_expires_at"], name="execution_lease")]


class RunEvent(models.Model):
    """An event of the runner, in its order. ``position`` is the place of the case in the report."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events", db_index=False)
    sequence = models.PositiveIntegerField()
    type = models.CharField(max_length=20)
    position = models.PositiveIntegerField(null=True)
    step_id = models.TextField(blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "sequence"], name="run_event_order")]


class ImportJob(models.Model):
    """An upload that a worker reads in the background.

    ``path`` is the file in the data folder, gone when the job ends. ``given`` is what was said beside it
    (``reports.importers.given``). ``error_paths`` holds what was refused, as pairs of JSON path and sentence.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        REFUSED = "refused"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="import_jobs")
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="import_jobs")
    origin = models.CharField(max_length=10, choices=Run.Origin.choices)
    path = models.TextField()
    file_name = models.TextField()
    byte_size = models.BigIntegerField()
    given = models.JSONField(default=dict)
    bytes_read = models.BigIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    claim_token = models.CharField(max_length=32, blank=True, default="")
    lease_expires_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=100, blank=True, default="")
    error_text = models.TextField(blank=True, default="")
    error_paths = models.JSONField(default=list)
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="import_jobs")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)


class Baseline(models.Model):
    """A named pointer of a target and suite to a run. ``is_default``: comparisons without a named one use it.

    ``set_by``, ``set_at`` and ``reason`` are of its newest change; ``BaselineChange`` keeps all of them.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="baselines")
    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="baselines")
    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="baselines")
    name = models.CharField(max_length=100)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="baselines")
    is_default = models.BooleanField(default=False)
    set_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    set_at = models.DateTimeField(auto_now=True)
    reason = models.TextField(blank=True, default="")

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["target", "suite", "name"], name="baseline_once"),
            models.UniqueConstraint(
                fields=["target", "suite"], condition=Q(is_default=True), name="baseline_one_default"
            ),
        ]


class BaselineChange(models.Model):
    """One step in the history of a named baseline. ``run`` is null where it was cleared."""

    class Action(models.TextChoices):
        SET = "set"
        CLEARED = "cleared"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="baseline_changes")
    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="+")
    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    action = models.CharField(max_length=10, choices=Action.choices)
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="+")
    is_default = models.BooleanField(default=False)
    is_forced = models.BooleanField(default=False)
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    reason = models.TextField(blank=True, default="")

    objects = TeamQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["target", "suite", "-at"], name="baseline_history")]


class Note(models.Model):
    """Triage on a scenario variant or a failure signature of a target: exactly one of the two.

    ``known`` lists the primary keys of the signatures a scenario variant failed with when the note was written: failing
    otherwise needs attention again; an empty list knows every failure. ``first_version`` and ``last_version`` bound the
    versions it holds for, both included; null is unbounded. ``expires_on`` is its last day (UTC). A closed note holds
    no more.
    """

    class State(models.TextChoices):
        INVESTIGATING = "investigating", "investigating"
        KNOWN_ISSUE = "known_issue", "known issue"
        EXPECTED_CHANGE = "expected_change", "expected change"
        FLAKY = "flaky", "flaky"
        FIXED_VERIFY = "fixed_verify", "fixed – verify"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="notes")
    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="notes")
    variant = models.ForeignKey(ScenarioVariant, on_delete=models.CASCADE, null=True, related_name="notes")
    signature = models.ForeignKey(Signature, on_delete=models.CASCADE, null=True, related_name="notes")
    known = models.JSONField(default=list)
    state = models.CharField(max_length=20, choices=State.choices)
    owner = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    text = models.TextField(blank=True, default="")
    link = models.TextField(blank=True, default="")
    expires_on = models.DateField(null=True)
    first_version = models.ForeignKey(Version, on_delete=models.SET_NULL, null=True, related_name="+")
    last_version = models.ForeignKey(Version, on_delete=models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    closed_at = models.DateTimeField(null=True)
    closed_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(variant__isnull=True, signature__isnull=False)
                | Q(variant__isnull=False, signature__isnull=True),
                name="note_about_one_thing",
            ),
            models.UniqueConstraint(
                fields=["target", "variant"],
                condition=Q(closed_at__isnull=True, variant__isnull=False),
                name="note_open_variant",
            ),
            models.UniqueConstraint(
                fields=["target", "signature"],
                condition=Q(closed_at__isnull=True, signature__isnull=False),
                name="note_open_signature",
            ),
        ]
        indexes = [models.Index(fields=["team"], condition=Q(closed_at__isnull=True), name="note_open")]


class AcceptedDefinition(models.Model):
    """A scenario's changed definition that a triager accepted between two suite revisions, in either direction.

    ``scenario_key`` is the ``text_key`` of the scenario id; ``first`` has the smaller primary key of both.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="accepted_definitions")
    scenario_key = models.CharField(max_length=32)
    scenario_id = models.TextField()
    first = models.ForeignKey(SuiteRevision, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(SuiteRevision, on_delete=models.CASCADE, related_name="+")
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    reason = models.TextField(blank=True, default="")

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "scenario_key", "first", "second"], name="definition_accepted_once")
        ]


class AuditEntry(models.Model):
    """Who did what, when. ``action`` is stable text for programs; ``subject`` says in words what it was done to."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="audit_entries")
    actor = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    action = models.CharField(max_length=60)
    subject = models.TextField()
    details = models.JSONField(default=dict)

    objects = TeamQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["team", "-at", "-id"], name="audit_newest")]


class ComparisonLook(models.Model):
    """When a team first looked at a comparison of versions, and the generations that stood on its sides then.

    ``key`` is the ``text_key`` of both sides. Repetitions added after a look make chance findings likelier.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="comparison_looks")
    key = models.CharField(max_length=32)
    generations = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "key"], name="comparison_look_once")]
