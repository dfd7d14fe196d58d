"""What PersonalQ promises, measured: `personalq bench …`."""
