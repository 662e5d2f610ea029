"""What is evaluated and by which definition: targets, versions, suites, and what their cases have in common."""

from django.db import models

from reports.models.people import Team
from reports.querysets import TeamQuerySet


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
