// Ledger: keeps books on every opponent and bets as much as it knows
//
// What an opponent does next often depends on what has just happened. The
// ledger has one account for each opponent and situation (my last choice and
// theirs) and counts what they did in it. Where the account is clear it plays
// the opposite of their habit; where it is empty it stays with what worked; in
// between it answers with a probability.

const books = new Map(); // opponent -> { first, even: { even, odd }, odd: { even, odd }, last }

function choose(turn) {
  const book = bookOf(turn.opponent);
  const { even, odd } = accountIn(book);

  // Where they play odd, even differs. One imagined match of each kind keeps a
  // single observation from being taken for a law.
  const evenDiffers = (odd + 1) / (even + odd + 2);
  if (evenDiffers >= 0.65) return "even";
  if (evenDiffers <= 0.35) return "odd";

  const last = book.last;
  const worked = last !== null && last.choice !== last.opponent_choice;
  return worked ? last.choice : evenDiffers;
}

function observe(outcome) {
  const theirs = outcome.opponent_choice;
  if (outcome.choice === null || theirs === null) return; // a technical loss
  const book = bookOf(outcome.opponent);
  accountIn(book)[theirs]++;
  book.last = outcome; // an outcome may be kept; a turn may not
}

// accountIn returns the account for the situation an opponent is in now.
function accountIn(book) {
  const last = book.last;
  return last === null ? book.first : book[last.choice][last.opponent_choice];
}

function bookOf(opponent) {
  let book = books.get(opponent);
  if (book === undefined) {
    const blank = () => ({ even: 0, odd: 0 });
    book = { first: blank(), even: { even: blank(), odd: blank() }, odd: { even: blank(), odd: blank() }, last: null };
    books.set(opponent, book);
  }
  return book;
}
