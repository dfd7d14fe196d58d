"""PersonalQ's contract: messages, events and services (generated beside the .proto files)."""
