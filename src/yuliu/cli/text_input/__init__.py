"""Text input of the command line: arguments, files, pipes and the keyboard."""
