"""Styles: whether a word is one (`role`), what leads to it (`leads`), frames that hint at one
(`frames`), and those that no card has (`unknown`).
"""
