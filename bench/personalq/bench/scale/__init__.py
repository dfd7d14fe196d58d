"""Scale: does a selection stay fast and right where there are a million cards?

`cards` makes them up, `vectors` embeds them, `loading` copies them into the database, `asking` puts
requests under load, `measuring` takes the other figures, `report` writes them down, `run` puts them
together.
"""
