// Ledger: keeps books on every opponent and bets as much as it knows
//
// What an opponent does next often depends on what has just happened. The
// ledger has one account for each opponent and situation (my last choice and
// theirs) and counts what they did in it. Where the account is clear it plays
// the opposite of their habit; where it is empty it stays with what worked; in
// between it answers with a probability.
//
// param: clear 0.5..1.0 = 0.65  the share from which on an account is clear

const books = new Map(); // opponent -> { even: { even, odd }, odd: { even, odd }, account, last }

function choose(turn) {
  const { account, last } = bookOf(turn.opponent);

  // Where they play odd, even differs. One imagined match of each kind keeps a
  // single observation from being taken for a law.
  const evenDiffers = (account.odd + 1) / (account.even + account.odd + 2);
  if (evenDiffers >= params.clear) return "even";
  if (evenDiffers <= 1 - params.clear) return "odd";

  const worked = last !== null && last.choice !== last.opponent_choice;
  return worked ? last.choice : evenDiffers;
}

function observe(outcome) {
  const { choice: mine, opponent_choice: theirs } = outcome;
  if (mine === null || theirs === null) return; // a technical loss
  const book = bookOf(outcome.opponent);
  book.account[theirs]++;
  book.account = book[mine][theirs]; // the situation they are in now
  book.last = outcome; // an outcome may be kept; a turn may not
}

function bookOf(opponent) {
  let book = books.get(opponent);
  if (book === undefined) {
    const blank = () => ({ even: 0, odd: 0 });
    book = { even: { even: blank(), odd: blank() }, odd: { even: blank(), odd: blank() }, account: blank(), last: null };
    books.set(opponent, book);
  }
  return book;
}
