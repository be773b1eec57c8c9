// Package archtest holds the architecture of everbloom by tests.
//
// It has no code of its own. Its tests read the whole tree and fail, saying
// where and what to do, when one of these does not hold:
//
//   - a package imports lower layers only (the table is in layers_test.go);
//   - every package has exactly one package comment, and it is attached;
//   - every exported function of theory cites a paper that has a page in
//     docs/papers;
//   - filters and theory neither do I/O nor log nor print, and no package has
//     a name that says nothing;
//   - functions and files stay within the hard limits of length;
//   - examples are short, tested and listed in README.md, and print what their
//     comments show;
//   - no text names a folder of a developer's machine;
//   - the modules that the library needs are those of
//     testdata/requirements.txt, so that a new one is seen in review.
//
// Every check is a function from parsed files to a list of problems, and has a
// second test beside it that feeds it a bad example.
package archtest
