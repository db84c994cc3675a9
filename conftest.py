"""Settings that all tests of the workspace share."""

from hypothesis import HealthCheck, settings

# No deadline: how long an example takes says something about the machine, not about the code.
settings.register_profile(
    "anonloom", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
# Where a package is tried alone: what it needs shows in a few examples.
settings.register_profile("quick", settings.get_profile("anonloom"), max_examples=10)
settings.load_profile("anonloom")
