"""Styles: `parse_style` claims the looks that are wanted, refused or preferred.

`role` decides whether a style word is about the picture or a thing of the scene: by what it is part
of ("an oil lamp", `no_look`) and by what leads to it or takes it away (`reached`); `leads` are the
words around a look that say it is one, or refuse it. `itself` tells looks from subjects of the same
name. Looks without a style word of the catalog: those that `frames` hint at ("a photo of"), those
`told` without a name ("like a page from a notebook") and those `unknown` to all cards.
"""
