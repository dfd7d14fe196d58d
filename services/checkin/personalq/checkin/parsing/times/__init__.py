"""Times: `parse_time` claims those that say when a checkpoint was trained or used.

`points` finds whatever names a time (a `point`): by the rules of `dates` ("April 11th"), `periods`
("last spring") and `relative` ("two weeks ago"), with the hours of `clock`; `words` are what these
rules are made of, `units` the reckoning. `setting` reads the words around a time ("used before"),
`role` whether it constrains there, and `scene` what makes it a part of the picture.
"""
