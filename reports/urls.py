"""Addresses of the pages."""

from django.conf import settings
from django.urls import path, register_converter
from django.urls.converters import StringConverter

from reports.views import (
    assets,
    audit,
    baselines,
    case,
    compare,
    compare_case,
    continuing,
    definitions,
    download,
    harness,
    help,
    home,
    imports,
    live,
    new_run,
    notes,
    run,
    runs,
    session,
    style,
    suites,
    targets,
    team_rules,
)


class VerbConverter(StringConverter):
    """How a run is continued (``reports.domain.continuation.Verb``)."""

    regex = "resume|retry"


register_converter(VerbConverter, "verb")

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in/", session.sign_in, name="sign-in"),
    path("sign-in/<str:token>/", session.sign_in_by_link, name="sign-in-by-link"),
    path("sign-out/", session.sign_out, name="sign-out"),
    path("settings/team/", session.set_team, name="team"),
    path("settings/tray/", session.set_tray, name="tray"),
    path("help/", help.help_page, name="help"),
    path("help/connect/", help.connect, name="connect"),
    path("favicon.ico", help.favicon),
    path("site-<str:digest>.css", assets.stylesheet, name="stylesheet"),
    path("settings/theme/", session.set_theme, name="set-theme"),
    path("runs/", runs.run_list, name="runs"),
    path("runs/filters/<str:name>/", runs.filter_choices, name="runs-filter"),
    path("runs/compare/", runs.compare_chosen, name="compare-chosen"),
    path("runs/new/", new_run.new_run, name="new-run"),
    path("runs/new/preview/", new_run.preview, name="new-run-preview"),
    path("runs/import/", imports.import_reports, name="import"),
    path("imports/<int:pk>/", imports.import_job, name="import-job"),
    path("runs/<uuid:pk>/", run.run_page, name="run"),
    path("runs/<uuid:pk>/live/", live.live, name="run-live"),
    path("runs/<uuid:pk>/timings/", run.timings, name="run-timings"),
    path("runs/<uuid:pk>/cancel/", new_run.cancel, name="cancel-run"),
    path("runs/<uuid:pk>/<verb:verb>/", continuing.continue_page, name="continue-run"),
    path("runs/<uuid:pk>/<verb:verb>/receipts/", continuing.receipts, name="run-receipts"),
    path("runs/<uuid:pk>/baseline/", baselines.baseline, name="baseline"),
    path("notes/new/", notes.new_note, name="new-note"),
    path("notes/close/", notes.close, name="close-notes"),
    path("notes/<int:pk>/", notes.note, name="note"),
    path("settings/ignore-rules/", team_rules.ignore_rules, name="ignore-rules"),
    path("settings/policy/", team_rules.policy, name="policy"),
    path("settings/audit/", audit.audit, name="audit"),
    path("settings/notes/", notes.note_list, name="notes"),
    path("baselines/<int:pk>/clear/", baselines.clear, name="clear-baseline"),
    path("runs/<uuid:pk>/report.json", download.report, name="run-report"),
    path("runs/<uuid:pk>/harness/results.jsonl", harness.rows, name="harness-rows"),
    path("runs/<uuid:pk>/harness/summary.json", harness.summary, name="harness-summary"),
    path("runs/<uuid:pk>/harness/report.json", harness.report, name="harness-report"),
    path("runs/<uuid:pk>/cases/<int:position>/", case.case_page, name="case"),
    path("runs/<uuid:pk>/cases/<int:position>/raw/", case.raw, name="case-raw"),
    path("compare/", compare.comparison, name="compare"),
    path("compare/definitions/", definitions.definitions, name="compare-definitions"),
    path("compare/case/", compare_case.side_by_side, name="compare-case"),
    path("targets/", targets.target_list, name="targets"),
    path("targets/<int:pk>/", targets.target_page, name="target"),
    path("targets/<int:pk>/grid/", targets.grid, name="target-grid"),
    path("targets/<int:pk>/trend.json", targets.trend, name="target-trend"),
    path("suites/", suites.suite_list, name="suites"),
    path("suites/<int:pk>/", suites.suite_page, name="suite"),
    path("suites/<int:pk>/revisions/<int:revision>.json", suites.suite_definition, name="suite-definition"),
]

if settings.DEBUG:
    urlpatterns.append(path("_style/", style.style_page, name="style"))
