"""The embedded stack: PostgreSQL, NATS and the four services as child processes."""
