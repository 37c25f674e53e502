// How much of a matrix is run: all of it with `script/test --peers --all` or by hand, a part in the short form.
export const isShort = process.env.TALARIA_PEERS_ALL === '0';

/** The list, or its first n. */
export const some = (list, n = 1) => (isShort ? list.slice(0, n) : list);

/** Every pair of the two; in short each of the first once, with another one of the second. */
export const pairs = (as, bs) => (isShort ? as.map((a, i) => [a, bs[i % bs.length]]) : as.flatMap((a) => bs.map((b) => [a, b])));
