"""What a request opens with, or adds between commas, that is read as something else: "Today's job
is", ", upside down,".
"""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin.parsing.numbers import CARDINAL

SAID_BESIDE = (
    (compile_form(r"^today's (job|task|picture|brief|order|request|assignment|subject|motif) "
                  r"(is|will be|shall be) (?=(an?|the|my|our|one) )"), "show "),
    (compile_form(r"(?<=\w) ?, ((large|big|small|nicely|neatly) (and )?)?cent(er|re)d"
                  r"( and (large|big|small))?(?= ?($|[,.;:!?)]))"), ""),
    (compile_form(r"(?<!\w)(?P<s>spring|summer|autumn|fall|winter)-of-(?P<y>20\d\d)(?!\w)"),
     r"\g<s> \g<y>"),
    (compile_form(r"(?<!\w)version( number)?( wanted| needed)?(\?| ?:) ?"
                  rf"(?=(v\.? ?)?{CARDINAL})"), "version "),
    (compile_form(r"(?<=\w )in (chains|shackles|fetters)(?= ?($|[,.;:!?)])| (in|on|at|by|under|"
                  r"and|with|above|beside)\b)"), "that is chained"),
    (compile_form(r"(?<=, )(the |its |a )?(?P<x>(?!(version|owner|name|date|number|model|"
                  r"checkpoint)\b)[\w-]+) (is |are )?(gone|missing|broken off|snapped off)(?= "
                  r"?($|[,.;:!?)]))"), r"missing \g<x>"),
    (compile_form(r"(?<!\w)(no|not) (more|older) than (?P<n>[\w-]+) (?P<what>days|weeks|months) "
                  r"(of age|old|in age)(?!\w)"), r"made in the last \g<n> \g<what>"),
    (compile_form(r"(?<!\w)(all )?at once (?=[\w-]+( [\w-]+)? and )"), "both "),
    (compile_form(r"^(please )?(seat|set|stand|park|perch|lay|hang|drop|stick|tuck|pose|sit|prop|"
                  r"station) (?=(the|my|our|that|an?|this) (?!(table|stage|scene|mood|tone)\b))"),
     "put "),
    (compile_form(r"(?<=[.;:,] )today (?=(it|he|she|they|i|we|let|show|put|have|make|draw)\b)"
                  r"(?![^.;:!?]*\b(made|trained|used|built|tuned|created|finished|ran)\b)"), ""),
    (compile_form(r"(?<=, )brand new(?= ?($|[,.;:!?)]))"), "brand-new"),
    (compile_form(r"(?<=, )(sitting|sat) down(?= ?($|[,.;:!?)]))"), "seated"),
    (compile_form(r"(?<!\bone, )(?<=, )(leaning|tilting|tilted|listing|sagging) to (one|the) side"
                  r"(?= ?($|[,.;:!?)]))"), "crooked"),
    (compile_form(r"(?<=, )(?P<how>gnawed|chewed|nibbled|trodden|scribbled|sat) (on|at|up)"
                  r"(?= ?($|[,.;:!?)]))"), r"\g<how>"),
)  # fmt: skip
"""Wordings, and what is read instead."""
