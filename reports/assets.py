"""The site's own stylesheets and modules: found in ``static/``, served under the names that the storage gives them.

A new component or module is a new file there; nothing has to be listed.
"""

from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.templatetags.static import static

_FIRST_SHEETS = ("css/tokens.css", "css/base.css")


def stylesheets() -> tuple[str, ...]:
    """Return the addresses of all stylesheets: tokens, elements, then the components by name."""
    return tuple(static(name) for name in (*_FIRST_SHEETS, *_names("css/components", ".css")))


def import_map() -> dict[str, dict[str, str]]:
    """Return the import map: ``site/<name>`` stands for ``static/js/<name>.js``."""
    modules = {f"site/{Path(name).stem}": static(name) for name in _names("js", ".js")}
    return {"imports": modules}


def _names(folder: str, ending: str) -> tuple[str, ...]:
    return _listed(folder, ending) if settings.DEBUG else _kept(folder, ending)


def _listed(folder: str, ending: str) -> tuple[str, ...]:
    root = Path(settings.STATICFILES_DIRS[0])
    return tuple(sorted(path.relative_to(root).as_posix() for path in (root / folder).glob(f"*{ending}")))


@lru_cache(maxsize=8)
def _kept(folder: str, ending: str) -> tuple[str, ...]:
    """What is deployed does not change while the process lives; in debugging it does."""
    return _listed(folder, ending)
