"""What describes the subject: words before it (`modifiers`), behind it (`tail`), between commas
(`asides`), what it has not got (`lacks`), and the phrases they make (`phrase`).
"""
