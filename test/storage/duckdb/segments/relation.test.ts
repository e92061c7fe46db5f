import fc from 'fast-check';
import t from 'tap';
import {
  ofCommits,
  ofCommitsBetween,
  ofCommitsSince,
} from '../../../../src/storage/duckdb/segments/commit-ranges.js';
import { relation } from '../../../../src/storage/duckdb/segments/relation.js';
import { newSegment, type Capture } from '../../../../src/storage/duckdb/segments/segment.js';
import { SPANS } from '../../../../src/storage/schema/tables.js';
import { holds } from '../../../support/property.js';

/** Number of commits per file, the cold one first, and which hot segments are quarantined. */
interface Files {
  readonly commits: readonly number[];
  readonly quarantined: readonly boolean[];
}

const files: fc.Arbitrary<Files> = fc.record({
  commits: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 6 }),
  quarantined: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
});

/** The capture of a read of these files, and the SQL name of the file of each commit. */
function captureOf({ commits, quarantined }: Files): {
  capture: Capture;
  fileOf: ReadonlyMap<number, string>;
} {
  const fileOf = new Map<number, string>();
  let lastSeq = 0;
  let bound = 0;
  const hot = commits.map((count, i) => {
    const segment = newSegment(i, '');
    const isCold = i === 0;
    segment.isQuarantined = !isCold && (quarantined[i - 1] ?? false);
    for (let n = 0; n < count; n++) fileOf.set(++lastSeq, isCold ? 'cold' : segment.catalog);
    segment.lastSeq = count === 0 ? 0 : lastSeq;
    if (isCold) bound = lastSeq;
    return segment;
  });
  const [, ...segments] = hot;
  const inOrder = segments.toSorted((a, b) => Number(b.isQuarantined) - Number(a.isQuarantined));
  const capture = {
    hot: inOrder,
    bound,
    lastSeq,
    lastNumber: 0,
    isAnyQuarantined: false,
    release: () => undefined,
  };
  return { capture, fileOf };
}

/** The files that a relation reads. */
function askedBy(sql: string): string[] {
  return [...sql.matchAll(/FROM (\w+)\.main\.spans/g)].map(([, name]) => name ?? '');
}

void t.test('reads the file of every requested commit once', async (t) => {
  const wanted = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 });
  holds(
    t,
    fc.property(files, wanted, (files, seqs) => {
      const { capture, fileOf } = captureOf(files);
      const first = Math.min(...seqs);
      const last = Math.max(...seqs);
      const seen = [...fileOf.keys()];
      const questions = [
        { condition: ofCommits(seqs), commits: seqs },
        {
          condition: ofCommitsBetween(first, last),
          commits: seen.filter((seq) => seq >= first && seq <= last),
        },
        { condition: ofCommitsSince(first), commits: seen.filter((seq) => seq >= first) },
      ];
      return questions.every(({ condition, commits }) => {
        const sql = relation(capture, SPANS, condition);
        const asked = askedBy(sql);
        const isEachAsked = commits.every((seq) => asked.includes(fileOf.get(seq) ?? asked[0] ?? ''));
        return isEachAsked && new Set(asked).size === asked.length && asked.length > 0;
      });
    }),
  );
});

void t.test('reads one file for one commit unless segments are quarantined', async (t) => {
  const { capture, fileOf } = captureOf({ commits: [5, 3, 4, 2], quarantined: [] });
  for (const [seq, file] of fileOf) t.strictSame(askedBy(relation(capture, SPANS, ofCommits([seq]))), [file]);
  t.strictSame(askedBy(relation(capture, SPANS, ofCommitsSince(9))), ['g2', 'g3']);
  t.strictSame(askedBy(relation(capture, SPANS, ofCommits([4, 14]))), ['cold', 'g3']);
  t.strictSame(askedBy(relation(capture, SPANS, [])), ['cold'], 'no commits: an empty table');
  t.match(relation(capture, SPANS, ofCommits([99])), /AND FALSE/, 'nor for a commit that no file has');
  const quarantined = captureOf({ commits: [5, 3, 4, 2], quarantined: [false, true, false] });
  t.strictSame(askedBy(relation(quarantined.capture, SPANS, ofCommits([7]))), ['g2', 'g1']);
  t.strictSame(askedBy(relation(quarantined.capture, SPANS, ofCommits([11]))), ['g2', 'g3']);
});
