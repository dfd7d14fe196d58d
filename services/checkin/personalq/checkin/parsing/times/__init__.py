"""Times in a prompt: what they name (`points`), what is said about them (`setting`), and whether
they constrain or belong to the picture (`role`).
"""
