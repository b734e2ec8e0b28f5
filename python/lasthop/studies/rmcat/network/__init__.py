"""The cases of RFC 8867 and what of RFC 8869 can be run, the controllers, and the network that joins them."""
