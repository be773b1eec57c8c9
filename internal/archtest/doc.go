// Package archtest holds the architecture of everbloom by tests.
//
// It has no code of its own. Its tests read the whole tree and fail, saying
// where and what to do, when one of these does not hold:
//
//   - a package imports lower layers only (the table is in layers_test.go);
//   - every exported function of theory cites a paper that has a page in
//     docs/papers;
//   - examples are short, tested and listed in README.md, and print what their
//     comments show;
//   - the methods that filters call most are inlined;
//   - no text names a folder of a developer's machine;
//   - the modules that the library needs are those of
//     testdata/requirements.txt, so that a new one is seen in review.
//
// What linters hold is in .golangci.yml: the length of functions and files, package
// comments, empty package names, words that name persons, and that filters neither
// do I/O nor print.
package archtest
