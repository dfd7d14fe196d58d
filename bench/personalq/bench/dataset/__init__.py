"""Repo-Prompts, our reconstruction: cards, requests, and what each request means."""
