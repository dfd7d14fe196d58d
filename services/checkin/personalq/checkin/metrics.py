"""What Check-in counts."""

from __future__ import annotations

import prometheus_client

MODEL_CALLS = prometheus_client.Counter(
    "personalq_checkin_model_calls",
    "Requests that a model could help with, by part (adviser, reranker) and what came of it: "
    "used, unsupported (an answer without a hold in the request), failed, skipped.",
    ["part", "outcome"],
)
MODEL_SECONDS = prometheus_client.Histogram(
    "personalq_checkin_model_seconds",
    "Time a model took, retries and failures included.",
    ["part"],
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60),
)
