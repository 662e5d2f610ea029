"""Make the environment that the project runs in, with nothing but the standard library.

Where the packages that a command needs are importable this module does nothing. Elsewhere it makes ``.venv`` beside
``manage.py``, installs the hash-pinned requirements there when they changed, and starts the same command again in it.
Its lines go to standard error, so that what a command prints stays clean. Two commands that start at the same moment
take turns; an installation that was interrupted is done again, for its stamp is written last.
"""

import contextlib
import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Present when the run-time requirements are: the ones that a foreign environment with some Django would lack.
RUNTIME_PACKAGES = ("django", "celery", "ninja", "evalrunner")
TEST_PACKAGES = ("pytest", "pytest_django", "hypothesis", "playwright")

# Settings of pip that would lead an installation out of the environment, or refuse the project itself.
HINDERING_PIP_SETTINGS = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_HASHES")
REEXECUTED = "EVALSITE_BOOTSTRAPPED"


class SetupFailed(Exception):
    """The environment could not be made; the message says what to do about it."""


@dataclass(frozen=True)
class Environment:
    """A project folder, its environment, and the requirements that one command needs there."""

    root: Path
    requirements: str

    @property
    def folder(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def stamp(self) -> Path:
        return self.folder / f".installed-{self.requirements}.sha256"

    def wanted(self) -> str:
        """Return the digest of all that decides what is installed: the pins, the project, its place, the Python."""
        digest = hashlib.sha256()
        for part in (self.root / self.requirements, self.root / "pyproject.toml", self.folder / "pyvenv.cfg"):
            digest.update(part.read_bytes() + b"\0")
        digest.update(os.fsencode(self.root))
        return digest.hexdigest()

    def is_current(self) -> bool:
        return self.python.exists() and self.stamp.exists() and self.stamp.read_text() == self.wanted()


def ensure_environment(arguments: Sequence[str]) -> None:
    """Return when this Python can run the command; else start it again in an environment that can.

    ``arguments`` is ``sys.argv`` of ``manage.py``. Ends the process with a sentence where no environment can be made.
    """
    came_from = os.environ.pop(REEXECUTED, None)
    for_tests = list(arguments[1:2]) == ["test"]
    missing = missing_packages(RUNTIME_PACKAGES + TEST_PACKAGES if for_tests else RUNTIME_PACKAGES)
    if not missing:
        return
    environment = Environment(ROOT, "requirements-test.txt" if for_tests else "requirements.txt")
    try:
        if came_from == str(environment.stamp):
            forget(environment)
            raise SetupFailed(
                f"{environment.folder} lacks {', '.join(missing)} although they were installed. "
                "Delete that folder and run the command again."
            )
        prepare(environment)
    except SetupFailed as problem:
        sys.exit(f"evalsite: {problem}")
    except KeyboardInterrupt:
        sys.exit("evalsite: set-up stopped; the next start continues it.")
    start_again(environment, arguments)


def missing_packages(names: Sequence[str]) -> list[str]:
    """Return the top-level packages among ``names`` that cannot be imported here."""
    return [name for name in names if importlib.util.find_spec(name) is None]


def prepare(environment: Environment) -> None:
    """Make the environment and install what is missing; raises SetupFailed."""
    if environment.is_current():
        return
    with only_one(environment):
        if environment.is_current():  # another process did it while this one waited
            return
        if not is_usable(environment.python):
            make(environment)
        install(environment)


@contextlib.contextmanager
def only_one(environment: Environment) -> Iterator[None]:
    """Hold the lock of the environment's set-up, waiting for another process that has it."""
    import fcntl

    try:
        lock = open(environment.root / ".venv.lock", "a")  # noqa: PTH123, SIM115 - closed below, after the work
    except OSError as problem:
        by_hand = " If packages were installed in .venv by hand, run .venv/bin/python manage.py instead."
        advice = by_hand if environment.folder.is_dir() else ""
        raise SetupFailed(f"cannot write to {environment.root}: {problem.strerror}.{advice}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another set-up of this folder to end…")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_usable(python: Path) -> bool:
    """Tell whether this interpreter starts, is new enough and has pip: an upgrade of the system may have broken it."""
    probe = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    try:
        return subprocess.run([python, "-c", probe], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def make(environment: Environment) -> None:
    """Make a fresh environment, replacing a broken one; raises SetupFailed with the package that is missing."""
    if missing_packages(["venv", "ensurepip"]):
        raise SetupFailed(missing_venv_advice())
    say(f"Making an environment for Python {version()} in {environment.folder}")
    made = run([sys.executable, "-m", "venv", "--clear", str(environment.folder)])
    if made.returncode != 0:
        if "ensurepip" in made.stdout:
            raise SetupFailed(missing_venv_advice())
        raise SetupFailed(f"the environment could not be made:\n{made.stdout.rstrip()}")


def missing_venv_advice() -> str:
    """Name the Debian package that completes this Python, and the command that installs it."""
    package = f"python{version()}-venv"
    return (
        f"this Python cannot make environments: Debian and Ubuntu keep that part in the package {package}. "
        f"Install it (sudo apt install {package}) and run the command again."
    )


def install(environment: Environment) -> None:
    """Install the pinned requirements and the project itself into the environment; raises SetupFailed."""
    pins = environment.root / environment.requirements
    say(f"Installing the packages of {pins.name} (the first time takes about a minute)")
    pip(environment, "--require-hashes", "--requirement", str(pins))
    say("Installing the project itself")
    pip(environment, "--no-deps", "--no-build-isolation", "--editable", str(environment.root))
    environment.stamp.write_text(environment.wanted())
    if environment.requirements == "requirements-test.txt":  # holds every pin of the other file too
        runtime = Environment(environment.root, "requirements.txt")
        runtime.stamp.write_text(runtime.wanted())


def pip(environment: Environment, *arguments: str) -> None:
    """Run pip in the environment; raises SetupFailed with what pip said."""
    done = run([str(environment.python), "-m", "pip", "install", "--quiet", "--no-input", *arguments])
    if done.returncode != 0:
        said = "\n".join(done.stdout.rstrip().splitlines()[-20:])
        raise SetupFailed(f"pip could not install this (is its package index reachable?):\n{said}")


def run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run a set-up step, keeping all that it says for the case that it fails."""
    settings = {name: value for name, value in os.environ.items() if name not in HINDERING_PIP_SETTINGS}
    settings |= {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return subprocess.run(
        command,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


def forget(environment: Environment) -> None:
    """Let the next start install everything again."""
    environment.stamp.unlink(missing_ok=True)


def start_again(environment: Environment, arguments: Sequence[str]) -> None:
    """Replace this process by the same command in the environment."""
    os.environ[REEXECUTED] = str(environment.stamp)
    command = [str(environment.python), str(environment.root / "manage.py"), *arguments[1:]]
    sys.stdout.flush()
    os.execv(environment.python, command)


def version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
