"""The column contract, and how outcomes become the two DataFrames that keep it."""
