"""Who is served next, and how much: ``policy`` decides (pure), ``worker`` owns the threads that own the engines."""
