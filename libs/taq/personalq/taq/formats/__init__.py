"""LoRA and embedding files of every kind in the wild, read into one `Lora`.

`parse` is the way in. `names` says what a key means; `low_rank` and `lycoris` make factors of a
layer's tensors, `embeddings` rows of a token's; `numbered` finds the layers of files that count
them instead of naming them.
"""
