"""The catalog: cards of personalized checkpoints, their search and their artifacts."""
