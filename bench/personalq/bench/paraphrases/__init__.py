"""What people say of look-alikes, and the embedding model fitted to it."""
