"""The wallet details endpoint: build the query, and parse the JSON of the answer.

This package does not handle HTTP, keys, caches or DataFrames.
"""
