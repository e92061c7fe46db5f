import { itemAt, invariant } from '../../../signal/checked.js';
import type { Connection } from '../files/connection.js';
import type { BlockMatches, FoundInBlocks } from './block-matches.js';
import { HotKeys } from './hot-keys.js';
import { keysByNumber, type LogKey } from './log-keys.js';
import type { FoundKeys, Wanted } from './page-of-keys.js';

/** The keys of some of the records that a search found, in hot segments and in blocks. */
export async function readKeys(
  connection: Connection,
  cold: FoundInBlocks,
  wanted: readonly Wanted<HotKeys | BlockMatches>[],
): Promise<FoundKeys> {
  const inBlocks = wanted.flatMap(({ list, places }) => (list instanceof HotKeys ? [] : { list, places }));
  const numbers = await cold.numbers(inBlocks);
  const numbersOf = new Map(inBlocks.map(({ list }, i) => [list, itemAt(numbers, i)]));
  const keys = await keysByNumber(connection, numbers.flat());
  const found: (LogKey | undefined)[][] = [];
  for (const { list, places } of wanted) {
    if (list instanceof HotKeys) found.push(await list.at(places));
    else found.push(invariant(numbersOf.get(list), 'list of records').map((number) => keys.get(number)));
  }
  return found;
}
