"""Values and pure functions; standard library only."""
