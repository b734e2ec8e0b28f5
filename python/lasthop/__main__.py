"""``python -m lasthop``."""

from lasthop.cli import main

if __name__ == "__main__":
    main()
