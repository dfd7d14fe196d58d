"""Clauses that tell of the subject, and how far they go."""
