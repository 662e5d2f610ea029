"""What workers do: runs that this site executes, whole or in shards, their events, and uploads to be read."""

from django.db import models
from django.db.models import Q

from reports.models.people import Team, User
from reports.models.results import Run


class Execution(models.Model):
    """How this site executes a run: the request, who asked, and the worker that holds it.

    ``target_name`` names the runnable target, ``request`` the options of the runner. ``idempotency_key`` (a hash of
    team and the asker's own key; empty for none) makes a repeated request the same run. A worker claims the row by
    setting ``claim_token``; it renews ``lease_expires_at`` while it lives. While a run that was split is worked on, its
    shards are held instead; whoever begins or concludes it holds this row. ``stop_reason`` says in words why the site
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


class Shard(models.Model):
    """Some of the cases of a run that is split over several workers, dealt out when the run began.

    ``places`` is a payload: the places of its ``case_count`` cases in the report. A worker claims and holds it as an
    ``Execution`` is held. ``failures`` counts the cases that failed or ended in error in it. ``ended``: nothing more is
    to be begun; ``broken``: it could not go on, as ``error_code`` says; ``lost``: its worker vanished.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        WORKING = "working"
        ENDED = "ended"
        BROKEN = "broken"
        LOST = "lost"

    execution = models.ForeignKey(Execution, on_delete=models.CASCADE, related_name="shards", db_index=False)
    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=7, choices=State.choices, default=State.QUEUED)
    places = models.BinaryField()
    case_count = models.PositiveIntegerField()
    failures = models.PositiveIntegerField(default=0)
    claim_token = models.CharField(max_length=32, blank=True, default="")
    claimed_at = models.DateTimeField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    error_code = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["execution", "number"], name="shard_once"),
            models.CheckConstraint(
                condition=Q(state__in=("queued", "working", "ended", "broken", "lost")), name="shard_state_known"
            ),
        ]
        indexes = [
            models.Index(fields=["created_at"], condition=Q(state="queued"), name="shard_waiting"),
            models.Index(fields=["lease_expires_at"], condition=Q(lease_expires_at__isnull=False), name="shard_lease"),
        ]


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
