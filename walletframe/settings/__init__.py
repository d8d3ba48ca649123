"""Settings for the service, the API key, the cache, the request rate and the time limits."""
