package dleft

// UnderRace tells the tests outside the package.
const UnderRace = underRace
