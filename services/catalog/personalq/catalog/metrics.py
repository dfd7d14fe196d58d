"""What the catalog counts."""

from __future__ import annotations

import prometheus_client

SPARSE_SEARCHES = prometheus_client.Counter(
    "personalq_catalog_sparse_searches",
    "Searches ranked by words alone because the embedding model gave no vector.",
)
CARDS_EMBEDDED = prometheus_client.Counter(
    "personalq_catalog_cards_embedded", "Cards that the background loop has embedded."
)
CARDS_TO_EMBED = prometheus_client.Gauge(
    "personalq_catalog_cards_to_embed",
    "Cards without an up-to-date vector of the configured model, when last counted.",
)
