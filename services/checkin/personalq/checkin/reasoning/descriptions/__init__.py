"""How well cards answer to what a person described."""
