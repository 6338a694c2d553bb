"""Console output of the command line: tables, status lines, errors."""
