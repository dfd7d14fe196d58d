"""From a prompt to an intent: every character is claimed by a constraint or left as content."""
