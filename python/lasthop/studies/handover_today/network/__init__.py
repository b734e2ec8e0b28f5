"""What is run: paths that change, mechanisms that carry a video over them."""
