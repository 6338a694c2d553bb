"""``/v1/stream``: the native protocol, over WebSocket and in the body of a plain request."""
