"""The optional reranker: a cross-encoder here, or a server that speaks of relevance."""
