"""The decisions: events in, actions out, all of it pure, so that a log of events can be replayed."""
