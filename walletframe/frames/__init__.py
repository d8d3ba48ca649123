"""The schema of the two DataFrames of a fetch, and the functions that build and encode them."""
