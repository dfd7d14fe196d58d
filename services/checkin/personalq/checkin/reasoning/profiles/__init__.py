"""Cards in everyday words: what a description says of its subject."""
