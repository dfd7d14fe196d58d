"""What every PersonalQ service stands on: gRPC, events, blobs, settings, telemetry, process."""
