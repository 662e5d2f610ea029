"""What our chart module takes for granted about the installed chart library."""

import re
from importlib import resources
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_sheet_that_charts_leave_out_is_still_the_librarys() -> None:
    """The library skips its style sheet where an element with this id exists; the CSP refuses it otherwise."""
    module = (ROOT / "static/js/chart.js").read_text()
    library = resources.files("plotly").joinpath("package_data/plotly.min.js").read_text(encoding="utf-8")

    named = re.search(r'UNWANTED_SHEET = "([0-9a-f]+)"', module)

    assert named is not None
    assert set(re.findall(r'getElementById\("([0-9a-f]{64})"\)', library)) == {named[1]}
