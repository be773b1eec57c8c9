// Package exact is a gate without filters, and the comparison of one with filters to
// it.
//
// [Gate] follows the rules of package gate in the plainest way: sets are maps of
// addresses, a chain is the list of a user's last words, compared with every pattern
// that may end there. It takes some hundred bytes per user, and errs never.
//
// [Check] sends each packet to both and counts in what they differ, and why:
//
//   - packets wrongly rejected, that is held back: a false positive of the banned set, or of
//     the overflow filter behind it, or a ban or strike that was wrong and what follows;
//   - packets wrongly passed: of a source on the black list, of one that the engine
//     itself had banned, which both must never be, or one that should have been held
//     back for its strike, or followed the ban that is missing, because the engine had
//     to give up a strike or a chain;
//   - bans that are missing, spurious (or early) or late;
//   - answers to queries, in a matrix of what is true by what was said;
//   - for each set the rate predicted and the rate measured with strangers, the keys
//     that were pinned, and users who should be in the tracked set and are not.
package exact
