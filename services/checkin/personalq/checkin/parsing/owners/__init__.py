"""Owners: who is named, what they did, and whose it is that is asked for."""
