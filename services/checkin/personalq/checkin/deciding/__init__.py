"""Select, ask about one attribute, or say what failed; and the reasons for it."""
