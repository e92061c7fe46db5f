import { MOST_CHARGES, MOST_TRACES, type NewWrite } from '../write-book.js';

/** @throws RangeError */
export function checkSize({ traces, charges }: NewWrite): void {
  if (traces.length > MOST_TRACES)
    throw new RangeError(`A write touches at most ${MOST_TRACES} traces, not ${traces.length}.`);
  if (charges.length > MOST_CHARGES)
    throw new RangeError(`A write has at most ${MOST_CHARGES} charges, not ${charges.length}.`);
}

/** @throws RangeError */
export function checkItems(all: readonly { readonly items: number }[]): void {
  for (const { items } of all)
    if (!Number.isSafeInteger(items) || items < 0)
      throw new RangeError(`Items are counted by whole numbers from 0, not by ${items}.`);
}
