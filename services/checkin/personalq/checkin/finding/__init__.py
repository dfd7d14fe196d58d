"""From an intent to the cards it leaves: searches, and the readings they are made for."""
