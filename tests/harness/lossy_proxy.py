"""A proxy of HTTP that loses answers of writes that happened."""

import socket
import threading
from collections.abc import Callable


class LossyProxy:
    """Passes HTTP requests on, and cuts the connection instead of an answer of success when `loses` says so."""

    def __init__(self, port: int, loses: Callable[[], bool]) -> None:
        self._target = port
        self._loses = loses
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.lost = 0
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Takes no further connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
            threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        try:
            while data := client.recv(65_536):
                server.sendall(data)
        except OSError:
            pass
        finally:
            server.close()

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        try:
            # The server answers after its commit, so an answer that is lost here belongs to a write that happened.
            while data := server.recv(65_536):
                if data.startswith(b"HTTP/1.1 2") and self._loses():
                    self.lost += 1
                    return
                client.sendall(data)
        except OSError:
            pass
        finally:
            client.shutdown(socket.SHUT_RDWR) if client.fileno() >= 0 else None
            client.close()
