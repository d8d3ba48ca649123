"""The settings: how to reach the service, and how fast and how long to ask it."""
