"""HTTP endpoints, one module for each protocol or resource."""
