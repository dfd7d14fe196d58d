"""Version numbers: how they are spelled (`numbers`), ranges and bounds (`bounds`), and numbers
without the word (`bare`).
"""
