import { itemAt } from '../../../signal/checked.js';
import { newestFirst, type LogKey } from './log-keys.js';

/** How many places are read per round over all lists, and the minimum per list. */
const SAMPLES = 1000;
const LEAST_SAMPLES = 8;
/** A page's surroundings of up to this many times its size, but no less than {@link SAMPLES}, are read as a whole and sorted. */
const PAGES_READ = 4;

/** A sorted list of records, newest first, that are read on demand. */
export interface KeyList {
  readonly count: number;
  /** No record of it is newer, and none older. */
  readonly newest: number;
  readonly oldest: number;
}

/** Some records of a list, by their places: ascending, 0 for the newest. */
export interface Wanted<List> {
  readonly list: List;
  readonly places: readonly number[];
}

/** The requested keys by list and place; undefined for a record that retention has removed since. */
export type FoundKeys = readonly (readonly (LogKey | undefined)[])[];

/** The sort key of records. For a time bound, the id sorts outside the ids of all records. */
type OrderKey = Pick<LogKey, 'timestamp' | 'id'>;
const BEFORE_ALL = '~';
const BEHIND_ALL = '';

/** Exactly this many records of a list come before a key. */
interface Mark {
  readonly key: OrderKey;
  readonly place: number;
}

/** The part of a list in which records of the page may be: between its first and its last mark. */
interface Part<List> {
  readonly list: List;
  marks: readonly Mark[];
}

/**
 * The keys on a page of several merged lists. Memory depends on the size of the page and on how many lists overlap its time, not
 * on its offset. Samples of each list narrow down the range that holds the page; after a few rounds little more than the page is
 * left, regardless of the offset.
 *
 * @param read reads the keys of some records
 */
export async function pageOfKeys<List extends KeyList>(
  lists: readonly List[],
  page: { readonly offset: number; readonly limit: number },
  read: (wanted: readonly Wanted<List>[]) => Promise<FoundKeys>,
): Promise<LogKey[]> {
  const { offset, limit } = page;
  const parts = lists.map((list): Part<List> => ({ list, marks: boundsOf(list) }));
  for (let recordsBefore = Infinity; ;) {
    narrow(parts, offset, offset + limit - 1);
    // What comes before every part comes before the page.
    const before = parts.reduce((sum, { marks }) => sum + (marks[0]?.place ?? 0), 0);
    const left = parts.map((part) => ({ part, ...spanOf(part, offset + limit - before) }));
    const open = left.filter(({ from, to }) => to > from);
    const [only] = open;
    if (only === undefined) return [];
    if (open.length === 1) {
      const from = only.from + offset - before;
      return keysIn(await read([wanted(only.part, from, only.to, limit)]));
    }
    const records = open.reduce((sum, { from, to }) => sum + to - from, 0);
    if (records <= PAGES_READ * limit + SAMPLES + 2 * LEAST_SAMPLES * open.length) {
      const found = await read(open.map(({ part, from, to }) => wanted(part, from, to, to - from)));
      return keysIn(found)
        .sort(newestFirst)
        .slice(offset - before, offset - before + limit);
    }
    // No progress: retention is removing the records.
    if (records >= recordsBefore) return [];
    recordsBefore = records;
    const samples = Math.max(LEAST_SAMPLES, Math.floor(SAMPLES / open.length));
    const looked = open.map(({ part, from, to }) => wanted(part, from, to, samples));
    const keys = await read(looked);
    looked.forEach(({ places }, i) => {
      const part = open[i]?.part;
      const marks = places.flatMap((place, j): Mark | [] => {
        const key = keys[i]?.[j];
        return key === undefined ? [] : { key, place };
      });
      if (part !== undefined) part.marks = [...part.marks, ...marks].sort(byPlace);
    });
  }
}

function keysIn(found: FoundKeys): LogKey[] {
  return found.flat().filter((key) => key !== undefined);
}

function boundsOf({ newest, oldest, count }: KeyList): Mark[] {
  return [
    { key: { timestamp: newest, id: BEFORE_ALL }, place: 0 },
    { key: { timestamp: oldest, id: BEHIND_ALL }, place: count },
  ];
}

/** The relevant places in a part. @param most how many of its records at most can be on the page or before it */
function spanOf<List>({ marks }: Part<List>, most: number): { readonly from: number; readonly to: number } {
  const from = marks[0]?.place ?? 0;
  return { from, to: Math.min(marks.at(-1)?.place ?? 0, from + most) };
}

/** Evenly spaced places, including the first and the last; all places if there are no more than `samples`. */
function wanted<List>({ list }: Part<List>, from: number, to: number, samples: number): Wanted<List> {
  const size = to - from;
  const count = Math.min(size, Math.max(samples, 2));
  const step = count === size ? 1 : (size - 1) / (count - 1);
  return { list, places: Array.from({ length: Math.max(0, count) }, (_, i) => from + Math.floor(i * step)) };
}

/**
 * Reduces each part to the range that may hold the records of some ranks. For each marked key the minimum and the maximum number
 * of records before it are computed. The first rank does not come before the last key whose maximum is low enough, and the last
 * rank comes before the first key whose minimum is high enough.
 */
function narrow<List>(parts: readonly Part<List>[], firstRank: number, lastRank: number): void {
  const marks = parts
    .flatMap((part, list) =>
      part.marks.map((mark, at) => ({ ...mark, list, next: part.marks[at + 1] ?? mark })),
    )
    .sort((a, b) => newestFirst(a.key, b.key) || a.place - b.place);
  const least = parts.map(() => 0);
  const most = parts.map((part) => part.marks[0]?.place ?? 0);
  let sumOfLeast = 0;
  let sumOfMost = most.reduce((sum, place) => sum + place, 0);
  const setMost = (list: number, place: number): void => {
    sumOfMost += place - itemAt(most, list);
    most[list] = place;
  };
  let from: OrderKey | undefined;
  let to: OrderKey | undefined;
  let at = 0;
  for (let mark = marks[at]; mark !== undefined && to === undefined; mark = marks[at]) {
    const { key } = mark;
    const same = marks.slice(at, endOfSame(marks, at, key));
    for (const { list, place } of same) {
      setMost(list, place);
      sumOfLeast += place - itemAt(least, list);
      least[list] = place;
    }
    if (sumOfMost <= firstRank) from = key;
    if (sumOfLeast > lastRank) to = key;
    for (const { list, next } of same) setMost(list, next.place);
    at += same.length;
  }
  for (const part of parts) part.marks = between(part.marks, from, to);
}

function endOfSame(marks: readonly Mark[], at: number, key: OrderKey): number {
  let end = at + 1;
  for (let mark = marks[end]; mark !== undefined && newestFirst(mark.key, key) === 0; mark = marks[end])
    end++;
  return end;
}

/** The marks from the last one not after `from` to the first one not before `to`. */
function between(
  marks: readonly Mark[],
  from: OrderKey | undefined,
  to: OrderKey | undefined,
): readonly Mark[] {
  const first = from === undefined ? 0 : marks.findLastIndex(({ key }) => newestFirst(key, from) <= 0);
  const last = to === undefined ? -1 : marks.findIndex(({ key }) => newestFirst(key, to) >= 0);
  return marks.slice(Math.max(0, first), last < 0 ? marks.length : last + 1);
}

function byPlace(a: Mark, b: Mark): number {
  return a.place - b.place || newestFirst(a.key, b.key);
}
