"""What describes the subject: words before it (`modifiers`), behind it (`tail`), between commas
(`asides`), and the phrases they make (`phrase`).
"""
