"""SQL: loads a table through any SQLAlchemy URL."""
