"""Privacy models: what a class of rows must look like before it may be published."""
