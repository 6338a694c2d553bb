"""Sound after the engine: levels, edges, pauses, PCM and containers. Pure; what has state is pushed and flushed."""
