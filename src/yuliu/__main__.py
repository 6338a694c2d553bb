"""``python -m yuliu``."""

from yuliu.cli import main

if __name__ == "__main__":
    main()
