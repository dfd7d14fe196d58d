"""Heads of requests that are no subject of the catalog."""
