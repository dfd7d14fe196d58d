"""What a request is about: how the sentence holds a noun (`role`), whether what follows selects it
(`selected`), and which nouns weigh most (`weighed`).
"""
