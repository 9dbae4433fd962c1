"""Timings, run by hand: they measure the machine as well."""
