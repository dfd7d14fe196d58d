"""What the renderer counts."""

from __future__ import annotations

import prometheus_client

CACHE_REQUESTS = prometheus_client.Counter(
    "personalq_renderer_cache_requests", "Leases of weights, by hit or miss.", ["result"]
)
LOAD_SECONDS = prometheus_client.Histogram(
    "personalq_renderer_load_seconds",
    "Time to fetch and load weights.",
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)
EVICTIONS = prometheus_client.Counter(
    "personalq_renderer_evictions", "Weights dropped, for room or after idling.", ["why"]
)
EVICTION_AGE_SECONDS = prometheus_client.Histogram(
    "personalq_renderer_eviction_age_seconds",
    "Time since the last use of what was evicted; seconds mean that the budget is too small.",
    buckets=(1, 5, 10, 30, 60, 300, 1800, 7200, 86400),
)
RESIDENT_BYTES = prometheus_client.Gauge(
    "personalq_renderer_resident_bytes", "Bytes of weights in memory."
)
QUEUE_DEPTH = prometheus_client.Gauge(
    "personalq_renderer_queue_depth", "Renders waiting for the device."
)
QUEUE_SECONDS = prometheus_client.Histogram(
    "personalq_renderer_queue_seconds",
    "Time a render waited for the device.",
    buckets=(0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)
RENDERS = prometheus_client.Counter(
    "personalq_renderer_renders", "Renders by outcome: done, cancelled, failed.", ["outcome"]
)
STEP_SECONDS = prometheus_client.Histogram(
    "personalq_renderer_step_seconds",
    "Time of one denoising step.",
    ["profile"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
