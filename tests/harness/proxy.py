"""A TCP proxy that can stop passing bytes without closing anything, as a network does that breaks in the middle."""

import contextlib
import socket
import threading


class Proxy:
    """Passes connections on to `port` of this machine, until it is told otherwise."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._began: dict[int, bytes] = {}
        self._silent: set[int] = set()
        self._refused: bytes | None = None
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def fall_silent(self, name: bytes) -> None:
        """Connections that began by saying `name` pass nothing more: their clients hear nothing, the target an end."""
        for inner, outer in [pair for pair in self._pairs if name in self._began.get(id(pair[0]), b"")]:
            self._silent |= {id(inner), id(outer)}
            with contextlib.suppress(OSError):
                outer.shutdown(socket.SHUT_RDWR)

    def refuse(self, name: bytes | None) -> None:
        """Ends connections from now on that begin by saying `name`; None refuses nobody any more."""
        self._refused = name

    def point_at(self, port: int) -> None:
        """Passes connections from now on to another port of this machine."""
        self._target = port

    def cut(self) -> None:
        """Ends every connection; new ones are taken."""
        for pair in self._pairs:
            for each in pair:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends everything."""
        self._listener.close()
        for pair in self._pairs:
            for each in pair:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                inner, _ = self._listener.accept()
                outer = socket.create_connection(("127.0.0.1", self._target))
                self._pairs.append((inner, outer))
                for source, sink in ((inner, outer), (outer, inner)):
                    threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                self._began[id(source)] = (self._began.get(id(source), b"") + data)[:1000]
                if self._refused and self._refused in self._began[id(source)]:
                    source.shutdown(socket.SHUT_RDWR)
                    break
                if id(source) not in self._silent:
                    sink.sendall(data)
        if id(source) not in self._silent:
            with contextlib.suppress(OSError):
                sink.shutdown(socket.SHUT_WR)
