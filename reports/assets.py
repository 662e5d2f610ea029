"""The site's own stylesheets and modules, found in ``static/``: a new component or module is a new file there.

Modules are served one by one under the names that the storage gives them. The stylesheets are many and small, and a
page needs all of them before it can be shown: they are served as one, under a name that holds their content's hash.
"""

import hashlib
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse

_FIRST_SHEETS = ("css/tokens.css", "css/base.css")


def stylesheet() -> str:
    """Return the address of the site's stylesheet."""
    return reverse("stylesheet", args=[_digest(stylesheet_text())])


def stylesheet_text() -> str:
    """Return all stylesheets in one: tokens, elements, then the components by name."""
    return _joined() if settings.DEBUG else _kept_joined()


def is_current(digest: str) -> bool:
    """Tell whether an address names the stylesheet as it is now."""
    return digest == _digest(stylesheet_text())


def import_map() -> dict[str, dict[str, str]]:
    """Return the import map: ``site/<name>`` stands for ``static/js/<name>.js``."""
    names = _listed("js", ".js") if settings.DEBUG else _kept_listed("js", ".js")
    return {"imports": {f"site/{Path(name).stem}": static(name) for name in names}}


def _root() -> Path:
    return Path(settings.STATICFILES_DIRS[0])


def _listed(folder: str, ending: str) -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(_root()).as_posix() for path in (_root() / folder).glob(f"*{ending}")))


def _joined() -> str:
    names = (*_FIRST_SHEETS, *_listed("css/components", ".css"))
    return "\n".join((_root() / name).read_text(encoding="utf-8") for name in names)


@lru_cache(maxsize=4)
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# What is deployed does not change while the process lives; in debugging it does.
_kept_listed = lru_cache(maxsize=4)(_listed)
_kept_joined = lru_cache(maxsize=1)(_joined)
