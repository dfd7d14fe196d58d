"""Order: "latest", "newest but one", "the very first", "least used", and soft "recently"."""
