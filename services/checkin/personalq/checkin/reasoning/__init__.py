"""How well each candidate fits what was said: hard constraints, then a calibrated score."""
