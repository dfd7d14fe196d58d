"""Version numbers: how they are spelled (`numbers`), bounds (`bounds`), ranges and steps
(`ranges`), and numbers without the word (`bare`).
"""
