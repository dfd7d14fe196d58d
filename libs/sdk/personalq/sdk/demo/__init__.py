"""`make demo`: from new-checkpoint events to pictures, on real parts.

Starts the embedded stack, announces the miniature's personalized checkpoints as a training
pipeline does, waits while catalog and quantizer work, asks Check-in in plain words, and renders
what it chose twice with the same seed: in full precision and from the TAQ artifact.
"""
