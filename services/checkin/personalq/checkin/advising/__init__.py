"""The optional second opinion of a language model, which names labels and nothing else."""
