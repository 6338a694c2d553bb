"""A plain server around the hibari library, for comparison: threads, one model, one chunk for each sentence.

Run as ``python bench/load/hibari_server.py --port N``. It understands what the bench sends, nothing more.
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np


def main() -> None:
    """Load the model, speak once, and serve until the process is ended."""
    from hibari import SAMPLE_RATE, Hibari

    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    tts = Hibari()
    list(tts.stream("Hello there, how are you today?"))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            self.send_response(200)
            self.send_header("Content-Type", "audio/pcm")
            self.send_header("X-Sample-Rate", str(SAMPLE_RATE))
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for samples in tts.stream(text):
                pcm = (np.clip(samples, -1.0, 1.0) * 32767.0).astype("<i2").tobytes()
                self.wfile.write(b"%x\r\n%b\r\n" % (len(pcm), pcm))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = True

    Server(("127.0.0.1", parser.parse_args().port), Handler).serve_forever()


if __name__ == "__main__":
    main()
