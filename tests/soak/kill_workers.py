"""Kill workers at random moments, many times, on each stack: is a stored turn lost, is one executed twice?

    python -m tests.soak.kill_workers [--kills N] [--seed S] [--stack NAME …]

For each stack (sqlite, redis: PostgreSQL with Redis, rabbitmq: PostgreSQL with RabbitMQ) the test of
``tests/execution/test_kills.py`` is run with N kills (50 unless told) at moments drawn from the seed. Services are
those of ``EVALSITE_SOAK_POSTGRES``, ``_REDIS`` and ``_RABBITMQ``, else the usual ones of this machine. Exits 1 where a
stack does not hold.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

TEST = "tests/execution/test_kills.py"
ROOT = Path(__file__).resolve().parents[2]
POSTGRES = os.environ.get("EVALSITE_SOAK_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
STACKS = {
    "sqlite": {},
    "redis": {
        "DATABASE_URL": POSTGRES,
        "CELERY_BROKER_URL": os.environ.get("EVALSITE_SOAK_REDIS", "redis://127.0.0.1:6379/8"),
    },
    "rabbitmq": {
        "DATABASE_URL": POSTGRES,
        "CELERY_BROKER_URL": os.environ.get("EVALSITE_SOAK_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672//"),
    },
}


def holds(stack: str, kills: int, seed: int) -> bool:
    """Run the test on a stack; its own words are printed."""
    services = STACKS[stack]
    environment = {name: value for name, value in os.environ.items() if name not in STACKS["redis"]}
    environment |= services | {"EVALSITE_TESTS_KILLS": str(kills), "EVALSITE_TESTS_SEED": str(seed)}
    command = [sys.executable, "-m", "pytest", "-q", "-s", "--create-db", "--timeout=0", TEST]
    begun = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    word = "held" if done.returncode == 0 else "DID NOT HOLD"
    print(f"{stack}: {kills} kills, seed {seed}: {word}, {time.monotonic() - begun:.0f} s", flush=True)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill workers at random moments on each stack.")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--stack", action="append", choices=list(STACKS))
    options = parser.parse_args()
    held = [holds(stack, options.kills, options.seed) for stack in options.stack or STACKS]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
