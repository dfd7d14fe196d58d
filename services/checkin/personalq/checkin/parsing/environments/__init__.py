"""Places of training: `parse_environment` claims them, or prefers them where they may be the scene.

`leads` are the words that a place of training follows ("trained at"), `places` reads which place
the phrase behind them names. `named` are places that name a checkpoint themselves ("the harbor
one"), `sentences` those of whole sentences ("it grew up on a farm"), `told` those in other words
than a name ("where bread is baked"), `joined` those that come together ("in a forest and on a
beach"), `mentioned` those that a clause about training has in no form of its own. `claim` makes the
constraint, whichever way one was found.
"""
