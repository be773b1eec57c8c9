// Package exact is a gate without filters, and the comparison of a gate with it.
//
// [Gate] follows the rules of package gate in the plainest way: sets are maps of
// addresses, a chain is the list of a user's last words, compared with every pattern
// that may end there. It takes some hundred bytes per user, and makes no mistakes.
//
// [Check] sends each packet to both and counts the differences by cause:
//
//   - packets wrongly rejected: a false positive of the banned set or of the overflow
//     filter behind it, or the consequence of a ban or strike that was wrong;
//   - packets wrongly passed: of a source on the black list, or of one that the engine
//     itself has banned, both of which must never happen; or a strike or ban that is
//     missing because the engine gave up a strike or a chain;
//   - bans that are missing, spurious (or early) or late;
//   - answers to queries, by what is true and what the engine answers;
//   - for each set the predicted rate and the rate measured with absent addresses, the
//     pinned keys, and the false negatives of the tracked set.
package exact
