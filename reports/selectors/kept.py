"""What was read and computed once stays in the memory of the process while there is room; the oldest gives way.

A key names everything that its value depends on, and nothing of that ever changes: there is nothing to invalidate.
Safe for threads; two that ask for the same at once may both compute it.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Kept(Generic[V]):
    """Values by key, as many as weigh at most ``most`` together; the weight of one is told when it is put in."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    @property
    def weight(self) -> int:
        return self._weight

    def get(self, key: Hashable) -> V | None:
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: V, weight: int) -> V:
        """Keep a value unless it alone is too heavy, and return it."""
        if weight > self.most:
            return value
        with self._lock:
            self._weight += weight - self._values.pop(key, (None, 0))[1]
            self._values[key] = (value, weight)
            while self._weight > self.most:
                _key, (_value, freed) = self._values.popitem(last=False)
                self._weight -= freed
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._weight = 0
