"""A seeded sample of the simulations of ``tests/soak/coverage.py``."""

import pytest

from tests.soak.coverage import Shape, faults, simulate

SAMPLE = [
    Shape(10, 1, 1, 0.95, -0.05),
    Shape(10, 3, 5, 0.80, 0.0),
    Shape(20, 1, 1, 0.95, -0.05),
    Shape(20, 2, 3, 0.95, 0.0),
    Shape(40, 1, 1, 0.80, -0.05),
    Shape(40, 2, 3, 0.80, 0.0),
]


@pytest.mark.parametrize("shape", SAMPLE, ids=str)
def test_interval_and_test_hold_on_simulated_suites(shape: Shape) -> None:
    found = simulate(shape, 400, seed=11)

    assert list(faults(shape, found, 400)) == []
