"""Nouns of a prompt that name subjects of the catalog."""
