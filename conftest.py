"""Settings that all tests of the workspace share."""

from hypothesis import HealthCheck, settings

# No deadline: how long an example takes says something about the machine, not about the code.
settings.register_profile(
    "anonloom", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("anonloom")
