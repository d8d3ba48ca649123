"""The wallets and holdings of a fetch: schema, construction, encoding and display."""
