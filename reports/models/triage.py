"""What people say about results: baselines, notes, accepted definitions, and the record of it all."""

from django.db import models
from django.db.models import Q

from reports.models.definitions import ScenarioVariant, Signature, Suite, SuiteRevision, Target, Version
from reports.models.people import Team, User
from reports.models.results import Run
from reports.querysets import TeamQuerySet


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

    ``known`` lists the primary keys of the signatures a scenario variant failed with where the note was written, and
    ``knows_undecided`` tells that it was not decided there: the note covers these and nothing else, an empty list no
    failure. ``every_failure``: it covers whatever becomes of the variant. ``first_version`` and ``last_version`` bound
    the versions it holds for, both included; null is unbounded. ``expires_on`` is its last day (UTC). A closed note
    holds no more.
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
    knows_undecided = models.BooleanField(default=False)
    every_failure = models.BooleanField(default=False)
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
