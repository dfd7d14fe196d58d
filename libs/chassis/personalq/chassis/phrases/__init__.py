"""A description cut into the phrases that speak of its subject."""

from personalq.chassis.phrases.cut import phrases_of

__all__ = ["phrases_of"]
