"""The site's stylesheet, for everybody: it holds nothing of any team."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from reports.assets import is_current, stylesheet_text

_A_YEAR = 365 * 24 * 3600


@require_safe
def stylesheet(request: HttpRequest, digest: str) -> HttpResponse:
    """Answer with the stylesheet; it is kept for a year where the address names just this content."""
    kept = f"public, max-age={_A_YEAR}, immutable" if is_current(digest) else "no-cache"
    return HttpResponse(stylesheet_text(), content_type="text/css; charset=utf-8", headers={"Cache-Control": kept})
