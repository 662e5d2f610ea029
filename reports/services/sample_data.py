"""What a first start shows."""

from reports.models import Run, Team, User


def has_runs(*, team: Team) -> bool:
    """Tell whether the team has any run: sample data never mix with real ones."""
    return Run.objects.for_team(team).exists()


def load_sample_data(*, team: Team, user: User) -> None:
    return None
