import fc from 'fast-check';
import t from 'tap';
import {
  CommitRanges,
  conditionsOn,
  joinClose,
  union,
} from '../../../../src/storage/duckdb/segments/commit-ranges.js';
import { holds } from '../../../support/property.js';

/** Ascending commit numbers, some far apart. */
const commits = fc
  .array(fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 500 })), { maxLength: 120 })
  .map((steps) => {
    let seq = 0;
    return steps.map((step) => (seq += step));
  });

function rangesOf(seqs: readonly number[]): CommitRanges {
  return seqs.reduce((ranges, seq) => ranges.with(seq), CommitRanges.NONE);
}

/** Whether a commit matches a SQL condition. */
function fulfils(condition: string, seq: number): boolean {
  const [, first, last] = /^seq BETWEEN (\d+) AND (\d+)$/.exec(condition) ?? [];
  if (first !== undefined) return seq >= Number(first) && seq <= Number(last);
  const [, list = ''] = /^seq (?:IN \(|= )([\d, ]+)\)?$/.exec(condition) ?? [];
  return list.split(', ').map(Number).includes(seq);
}

void t.test('find every commit in a bounded number of ranges', async (t) => {
  holds(
    t,
    fc.property(commits, (seqs) => {
      const ranges = rangesOf(seqs);
      const isIn = (seq: number): boolean =>
        ranges.list.some(({ first, last }) => seq >= first && seq <= last);
      const again = CommitRanges.stored({ first: ranges.first, last: ranges.last, printed: ranges.print() });
      return (
        seqs.every(isIn) &&
        ranges.list.length <= 32 &&
        ranges.first === (seqs[0] ?? 0) &&
        ranges.last === (seqs.at(-1) ?? 0) &&
        JSON.stringify(again) === JSON.stringify(ranges)
      );
    }),
  );
});

void t.test('keep distant commits apart and merge the nearest ranges at the limit', async (t) => {
  t.equal(rangesOf([5, 6, 7, 900, 902, 5000]).print(), '5-7,900,902,5000');
  t.equal(rangesOf([5, 6]).print(), null);
  const many = rangesOf([...Array.from({ length: 32 }, (_, i) => (i + 1) * 100), 3201, 9000]);
  t.equal(many.list.length, 32);
  t.match(many.print(), /^100,200,.*,3100-3201,9000$/);
  t.equal(rangesOf([...Array.from({ length: 32 }, (_, i) => (i + 1) * 100), 9000]).list.length, 32);
});

void t.test('join ranges at their narrowest gaps, which together are no wider than the ranges', async (t) => {
  const joined = (seqs: readonly number[]) =>
    joinClose(union(seqs.map((seq) => ({ first: seq, last: seq })))).map(
      ({ first, last }) => `${first}-${last}`,
    );
  t.strictSame(joined([]), []);
  t.strictSame(joined([1, 3, 5]), ['1-5']);
  t.strictSame(joined([1, 100, 200]), ['1-1', '100-100', '200-200']);
  t.strictSame(joined([1, 2, 3, 5, 8, 20]), ['1-8', '20-20']);
  holds(
    t,
    fc.property(commits, (seqs) => {
      const list = joined(seqs).map((range) => range.split('-').map(Number));
      const read = list.reduce((sum, [first = 0, last = 0]) => sum + last - first + 1, 0);
      return (
        read <= 2 * seqs.length &&
        seqs.every((seq) => list.some(([first = 0, last = 0]) => first <= seq && seq <= last))
      );
    }),
  );
});

void t.test('build few conditions, exactly one of which matches each commit', async (t) => {
  holds(
    t,
    fc.property(fc.array(commits, { maxLength: 6 }), (lists) => {
      const conditions = conditionsOn(lists.map(rangesOf));
      return (
        conditions.length >= 1 &&
        conditions.length <= 7 &&
        lists.flat().every((seq) => conditions.filter(({ sql }) => fulfils(sql, seq)).length === 1)
      );
    }),
  );
});
