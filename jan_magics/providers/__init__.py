"""Speak with model servers; HTTP lives only here. Import the module you need, nothing is loaded."""
