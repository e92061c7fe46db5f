import type { Random } from './random.js';

/** Rules of a text: each symbol with the texts it may become. */
export type Grammar = Readonly<Record<string, readonly string[]>>;

const PLACE = /\{([a-z_]+|\d+-\d+)\}/g;

/**
 * Writes a text from a template: `{symbol}` becomes one of the symbol's texts, which may hold further places, and
 * `{3-40}` a number of that range.
 *
 * @throws Error for a symbol that the grammar does not have.
 */
export function write(random: Random, grammar: Grammar, template: string): string {
  return template.replace(PLACE, (_place, what: string) => {
    const dash = what.indexOf('-');
    if (dash > 0) return String(random.integer(Number(what.slice(0, dash)), Number(what.slice(dash + 1))));
    const texts = grammar[what];
    if (texts === undefined) throw new Error(`The grammar has no symbol "${what}".`);
    return write(random, grammar, random.pick(texts));
  });
}

/** Several different texts of one symbol, each ended by `separator` but the last. */
export function writeSeveral(
  random: Random,
  grammar: Grammar,
  symbol: string,
  count: number,
  separator = ' ',
): string {
  const texts = grammar[symbol];
  if (texts === undefined) throw new Error(`The grammar has no symbol "${symbol}".`);
  return random
    .sample(texts, count)
    .map((text) => write(random, grammar, text))
    .join(separator);
}
