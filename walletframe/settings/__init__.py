"""Settings: the service, the key, the cache, the request rate and the time limits."""
