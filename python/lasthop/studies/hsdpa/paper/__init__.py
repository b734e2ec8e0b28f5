"""What the paper says: the words are in the files beside this one. It prints no numbers but those in its sentences."""
