"""The C kernel is optional: without a compiler the package installs and uses numpy."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "anonloom_dpf._kernel",
            sources=["src/anonloom_dpf/_kernel.c"],
            depends=[
                f"src/anonloom_dpf/_{part}.h" for part in "kernel lanes generation module".split()
            ],
            extra_compile_args=["-O3"],
            optional=True,
        )
    ]
)
