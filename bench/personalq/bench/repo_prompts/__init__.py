"""Repo-Prompts (paper, section III-C): is the checkpoint that somebody means the one they get?

`files` reads cards and queries, `services` starts or reaches the real services, `loading` registers
the cards, `asking` puts one query after the other, `scoring` judges, `run` puts them together.
"""
