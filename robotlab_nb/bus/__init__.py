"""The message bus: typed channels between robots, and what became of each message."""
