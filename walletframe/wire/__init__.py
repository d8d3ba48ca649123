"""The wallet details endpoint: the query out, the JSON in.

Knows the service's document and nothing about HTTP, keys, caches or DataFrames. What the sandbox
needs of the document is in `shapes`.
"""
