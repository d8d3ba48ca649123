"""The wallet details endpoint: building the query, and reading the JSON of the answer.

This package knows the service's document, but nothing about HTTP, keys, caches or DataFrames.
"""
