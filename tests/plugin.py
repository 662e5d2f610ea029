"""What the tests find on this machine: a data folder of their own, and the services and the browser that some need.

A test asks for a service by its fixture (``postgres_url``, ``redis_url``, ``rabbitmq_url``) and for the browser by
pytest-playwright's ``page``. Where the service is missing the test is left out, and the end of the session says so;
``EVALSITE_TEST_REQUIRE=postgres,redis,rabbitmq,browser`` makes each missing one a failure instead.
"""

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

# Before Django reads its settings: no test touches the data folder of the person who runs it.
DATA_FOLDER = tempfile.mkdtemp(prefix="evalsite-tests-")
os.environ["EVALSITE_DATA_DIR"] = DATA_FOLDER
for name in ("EVALSITE_ALLOWED_HOSTS", "EVALSITE_TARGETS", "EVALSITE_DEBUG"):
    os.environ.pop(name, None)

NEEDED_BY_FIXTURE = {
    "postgres_url": "postgres",
    "redis_url": "redis",
    "rabbitmq_url": "rabbitmq",
    "page": "browser",
    "context": "browser",
    "browser": "browser",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 3


@dataclass(frozen=True)
class Service:
    """One service as it was found: its address, or what went wrong there.

    ``serves_all``: the environment names it as the database or broker of the whole site.
    """

    name: str
    address: str = ""
    problem: str = ""
    serves_all: bool = False

    @property
    def is_found(self) -> bool:
        return bool(self.address)

    def described(self, used: int, left_out: int) -> str:
        if self.is_found:
            use = "the site under test used it" if self.serves_all else f"{tests(used)} used it"
            return f"{self.name}: {without_password(self.address)}, {use}"
        return f"{self.name}: missing, {tests(left_out)} left out ({self.problem})"


def without_password(address: str) -> str:
    return re.sub(r"://([^:/@]*):[^@]*@", r"://\1:…@", address)


def tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"


def find(name: str, connect: Callable[[str], object], *, variable: str, schemes: Sequence[str], usual: str) -> Service:
    """Return the service at the address in an environment variable, when that is of its kind, else at the usual one."""
    configured = os.environ.get(variable, "")
    serves_all = configured.split(":")[0] in schemes
    address = configured if serves_all else usual
    try:
        connect(address)
    except Exception as refused:  # whatever a client raises, the service cannot be used there
        reason = (str(refused).strip() or repr(refused)).splitlines()[0]
        return Service(name, problem=f"{without_password(address)}: {reason}")
    return Service(name, address, serves_all=serves_all)


def connect_postgres(address: str) -> None:
    import psycopg

    psycopg.connect(re.sub(r"^[a-z0-9]+:", "postgresql:", address), connect_timeout=PATIENCE_S).close()


def connect_redis(address: str) -> None:
    import redis

    with redis.Redis.from_url(address, socket_connect_timeout=PATIENCE_S) as connection:
        connection.ping()


def connect_rabbitmq(address: str) -> None:
    import kombu

    with kombu.Connection(address, connect_timeout=PATIENCE_S) as connection:
        connection.connect()


def find_browser() -> Service:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    return Service("browser", path) if path else Service("browser", problem=f"no {', '.join(BROWSERS)} on the path")


def find_services() -> dict[str, Service]:
    broker = "CELERY_BROKER_URL"
    found = [
        find(
            "postgres",
            connect_postgres,
            variable="DATABASE_URL",
            schemes=("postgres", "postgresql"),
            usual="postgresql://postgres@127.0.0.1:5432/postgres",
        ),
        find("redis", connect_redis, variable=broker, schemes=("redis", "rediss"), usual="redis://127.0.0.1:6379/0"),
        find(
            "rabbitmq",
            connect_rabbitmq,
            variable=broker,
            schemes=("amqp", "amqps"),
            usual="amqp://guest:guest@127.0.0.1:5672//",
        ),
        find_browser(),
    ]
    return {service.name: service for service in found}


class Services:
    """The services of a session, and how many tests used or lacked each."""

    def __init__(self, found: dict[str, Service]) -> None:
        self.found = found
        self.used: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()

    def check_required(self, required: str) -> None:
        """Raise pytest.UsageError when a required service is missing or nobody knows it."""
        for name in filter(None, map(str.strip, required.split(","))):
            service = self.found.get(name)
            if service is None:
                raise pytest.UsageError(f"EVALSITE_TEST_REQUIRE: {name!r} is none of {', '.join(self.found)}.")
            if not service.is_found:
                raise pytest.UsageError(f"EVALSITE_TEST_REQUIRE: {name} is missing ({service.problem}).")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept = [item for item in items if not self._lacking(item)]
        config.hook.pytest_deselected(items=[item for item in items if self._lacking(item)])
        for item in items:
            self.left_out.update(self._lacking(item))
        # Last, because Playwright leaves its event loop running in this thread, where nothing asynchronous works then.
        items[:] = sorted(kept, key=lambda item: "browser" in needs_of(item))

    def pytest_runtest_call(self, item: pytest.Item) -> None:
        self.used.update(needs_of(item))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("services")
        for service in self.found.values():
            terminalreporter.line(service.described(self.used[service.name], self.left_out[service.name]))

    def _lacking(self, item: pytest.Item) -> set[str]:
        return {name for name in needs_of(item) if not self.found[name].is_found}


def needs_of(item: pytest.Item) -> set[str]:
    """Return the names of the services that a test needs, by the fixtures it asks for."""
    fixtures = getattr(item, "fixturenames", ())
    return {NEEDED_BY_FIXTURE[fixture] for fixture in fixtures if fixture in NEEDED_BY_FIXTURE}


def pytest_configure(config: pytest.Config) -> None:
    services = Services(find_services())
    services.check_required(os.environ.get("EVALSITE_TEST_REQUIRE", ""))
    config.pluginmanager.register(services, "evalsite-services")


def pytest_unconfigure() -> None:
    shutil.rmtree(DATA_FOLDER, ignore_errors=True)


def _address(request: pytest.FixtureRequest, name: str) -> str:
    services = request.config.pluginmanager.get_plugin("evalsite-services")
    assert isinstance(services, Services)
    return services.found[name].address


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> str:
    """The address of a PostgreSQL server on which a test may make databases."""
    return _address(request, "postgres")


@pytest.fixture(scope="session")
def redis_url(request: pytest.FixtureRequest) -> str:
    return _address(request, "redis")


@pytest.fixture(scope="session")
def rabbitmq_url(request: pytest.FixtureRequest) -> str:
    return _address(request, "rabbitmq")


@pytest.fixture(scope="session")
def chromium_path(request: pytest.FixtureRequest) -> str:
    return _address(request, "browser")
