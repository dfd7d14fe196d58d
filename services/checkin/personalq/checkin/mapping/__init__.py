"""The trigger in place of the noun, and the prompt without the words that only chose."""
