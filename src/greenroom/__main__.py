"""python -m greenroom"""

from greenroom.cli import main

if __name__ == "__main__":
    main()
