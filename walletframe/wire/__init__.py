"""The wallet details endpoint: build the query, and parse the JSON of the answer.

This package knows the documented format of the service. It does not handle HTTP, keys, caches or
DataFrames.
"""
