"""Check-in: from a request in plain words to the intended checkpoint (paper, section III-A)."""
