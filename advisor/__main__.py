"""`python -m advisor` is `advisor`."""

from advisor.standin import stand_in

stand_in("inspect")  # which click and dataclasses import: 3 % of an answer's time, and most answers use nothing of it

from advisor.cli import whole_process as main  # noqa: E402

if __name__ == "__main__":
    main()
