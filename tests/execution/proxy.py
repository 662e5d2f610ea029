"""A TCP proxy on this machine that can be cut, as if the server behind it were gone."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

_DEFAULT_PORTS = {"redis": 6379, "amqp": 5672, "postgres": 5432, "postgresql": 5432}
_PIECE = 1 << 16


class Proxy:
    """Forwards connections to an address. While it is cut, connections break and new ones are refused."""

    def __init__(self, host: str, port: int) -> None:
        self._behind = (host, port)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = _listen(0)
        self.port: int = self._listener.getsockname()[1]
        self._serve()

    def cut(self) -> None:
        with self._lock:
            ending, self._open = [self._listener, *self._open], set()
        for each in ending:
            _end(each)

    def restore(self) -> None:
        self._listener = _listen(self.port)
        self._serve()

    def _serve(self) -> None:
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the listener is closed when it is cut
            while True:
                near, _ = listener.accept()
                try:
                    far = socket.create_connection(self._behind, timeout=5)
                except OSError:
                    _end(near)
                    continue
                far.settimeout(None)
                with self._lock:
                    self._open |= {near, far}
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _listen(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    return listener


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(_PIECE):
            sink.sendall(piece)
    _end(source)
    _end(sink)


def _end(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()


@contextlib.contextmanager
def proxy_of(url: str) -> Iterator[tuple[Proxy, str]]:
    """Put a proxy before a server; gives it with the address that leads through it."""
    parts = urlsplit(url)
    made = Proxy(parts.hostname or "127.0.0.1", parts.port or _DEFAULT_PORTS[parts.scheme])
    login = parts.netloc.rpartition("@")[0]
    place = f"{login}@127.0.0.1:{made.port}" if login else f"127.0.0.1:{made.port}"
    try:
        yield made, urlunsplit(parts._replace(netloc=place))
    finally:
        made.cut()
