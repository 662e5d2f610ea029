"""Settings of the site, read from the environment. The README's table says what each variable means."""

import os
from pathlib import Path

from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from evalsite.environment import data_folder, database, kept_secret
from evalsite.logs import STYLES, logging_config

BASE_DIR = Path(__file__).resolve().parent.parent


def _flag(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() in {"1", "true", "yes", "on"}


def _words(name: str, default: str) -> list[str]:
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


DATA_DIR = data_folder(Path(os.environ.get("EVALSITE_DATA_DIR") or BASE_DIR / "data").resolve(), "static", "uploads")

DEBUG = _flag("EVALSITE_DEBUG")
SECRET_KEY = os.environ.get("EVALSITE_SECRET_KEY") or kept_secret(DATA_DIR)
ALLOWED_HOSTS = _words("EVALSITE_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = [f"https://{host.removeprefix('.')}" for host in ALLOWED_HOSTS if host != "*"]
TARGETS_FILE = os.environ.get("EVALSITE_TARGETS", "")
METRICS_TOKEN = os.environ.get("EVALSITE_METRICS_TOKEN", "")
LOG_STYLE = os.environ.get("EVALSITE_LOG", "")
if LOG_STYLE not in STYLES:
    raise ImproperlyConfigured(f"EVALSITE_LOG is {LOG_STYLE!r}; it may be text or json, or not set.")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "axes",
    "csp",
    "reports.apps.ReportsConfig",
    "evalsite.apps.SiteConfig",
]

MIDDLEWARE = [
    "evalsite.probes.ProbeMiddleware",
    "evalsite.request_log.RequestLogMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "reports.access.TeamMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "evalsite.urls"
WSGI_APPLICATION = "evalsite.wsgi.application"
ASGI_APPLICATION = "evalsite.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "reports.frame.frame",
            ],
            "builtins": ["reports.templatetags.show"],
        },
    }
]

DATABASES = {"default": database(os.environ.get("DATABASE_URL", ""), folder=DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "reports.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
LOGIN_URL = "sign-in"
CSRF_FAILURE_VIEW = "reports.views.errors.form_refused"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["ip_address", "username"]]  # not the address alone: behind a proxy everybody has the same
AXES_LOCKOUT_CALLABLE = "reports.views.errors.locked_out"
AXES_VERBOSE = False

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "evalsite.staticfiles.PackageFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": DATA_DIR / "files"}},
    "staticfiles": {"BACKEND": "evalsite.staticfiles.HashedStaticFiles"},
}

CACHES = {"default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "evalsite_cache"}}

CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL") or "memory://localhost/"
# A message is acknowledged before its job begins: the truth is the row, which is claimed, and is sent again while it
# waits. A message that stays unacknowledged for as long as a run lasts ends the worker when the broker goes away
# meanwhile, and RabbitMQ closes its channel after half an hour.
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_POOL = "evalsite.pool:TaskPool"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker for as long as it takes
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
if CELERY_BROKER_URL.startswith("redis"):
    CELERY_WORKER_DISABLE_PREFETCH = True  # a busy worker takes no message that an idle one could have
    # A message that was taken and not acknowledged is not delivered again: its row is.
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": 7 * 24 * 3600,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
    }

# The hash is that of the empty text: Plotly fills an empty style element.
_EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],  # the nonce is for the import map alone: it works only inline
        "style-src": [SELF, _EMPTY_STYLE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "object-src": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SESSION_COOKIE_SAMESITE = "Lax"
if _flag("EVALSITE_TLS_PROXY"):
    # Only behind a proxy that sets these headers itself: whoever else reached the site could claim anything by them.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    AXES_CLIENT_IP_CALLABLE = "evalsite.proxy.client_address"

DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "uploads"

LOGGING = logging_config(LOG_STYLE)
