"""Forms: regular expressions of running text in a notation that can be read.

A space stands for any run of whitespace, "~" for spaces or hyphens, both may be optional (" ?"; no
other quantifier may follow them), and "(…)" groups without capturing; all else is as in `re`. What
`(?P<name>…)` captures is captured, and inside "[…]" and a lookbehind (whose width is fixed) every
character is itself.
"""

from __future__ import annotations

import re

_CLASS = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_GROUP = rf"\((?:\\.|{_CLASS}|[^()\[\\])*\)"
_LOOKBEHIND = rf"\(\?<[=!](?:\\.|{_CLASS}|{_GROUP}|[^()\[\\])*\)"
_TOKEN = re.compile(rf"(?P<as_it_is>\\.|{_CLASS}|{_LOOKBEHIND})|[ ]\??|~\??|\((?!\?)")
_MEANS = {" ": r"\s+", " ?": r"\s*", "~": r"[\s-]+", "~?": r"[\s-]*", "(": "(?:"}


def form(*alternatives: str) -> str:
    r"""The regular expression of a form, or of one of several: the first that fits.

    Forms may be made of forms: what is written out already stays as it is.

    Args:
        alternatives: forms; several become one group.

    >>> form("newest~(one )?but~(?P<but>two)")
    'newest[\\s-]+(?:one\\s+)?but[\\s-]+(?P<but>two)'
    """
    written = [_TOKEN.sub(_written, alternative) for alternative in alternatives]
    return written[0] if len(written) == 1 else f"(?:{'|'.join(written)})"


def compile_form(*alternatives: str, flags: int = 0) -> re.Pattern[str]:
    """A form, compiled.

    Raises:
        re.error: it is no form.
    """
    return re.compile(form(*alternatives), flags)


def _written(token: re.Match[str]) -> str:
    return token["as_it_is"] or _MEANS[token[0]]
