"""The HTTP API under /api/v1/."""

from reports.api import problems
from reports.api.compare import router as compare_router
from reports.api.compare_case import router as compare_case_router
from reports.api.continuing import router as runs_router  # those of reports.api.runs, executions and its own
from reports.api.description import DescribedAPI
from reports.api.gate import router as gate_router
from reports.api.harness import router as harness_router
from reports.api.team_rules import router as team_rules_router
from reports.api.triage import router as triage_router

api = DescribedAPI(
    title="Evalsite",
    version="1",
    description="Everything that a page can do. Errors are problems (RFC 9457) with a stable `code` and `paths`.",
    docs_url=None,
)
problems.connect(api)
api.add_router("", runs_router)
api.add_router("", compare_router)
api.add_router("", compare_case_router)
api.add_router("", gate_router)
api.add_router("", harness_router)
api.add_router("", team_rules_router)
api.add_router("", triage_router)
