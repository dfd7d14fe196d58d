"""What a person answers to a question, merged into what was asked for."""
