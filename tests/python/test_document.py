"""The examples of docs/python.md, run as doctests."""

import doctest
import os
import pathlib
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]


class DocumentTest(unittest.TestCase):
    def test_examples_print_what_the_document_says(self):
        before = os.getcwd()
        os.chdir(TREE)
        try:
            failed, tried = doctest.testfile(str(TREE / "docs/python.md"), module_relative=False)
        finally:
            os.chdir(before)
        self.assertGreater(tried, 15)
        self.assertEqual(failed, 0)


if __name__ == "__main__":
    unittest.main()
