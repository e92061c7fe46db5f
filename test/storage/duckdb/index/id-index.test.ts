import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open as openFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { ConsumeError } from '../../../../src/component/consume-error.js';
import {
  IdIndex,
  type IdRows,
  type IndexSize,
  type RowsPart,
} from '../../../../src/storage/duckdb/index/id-index.js';
import { PAGE_BYTES } from '../../../../src/storage/duckdb/index/id-file.js';
import { neverDiffers } from '../../../support/property.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { testFolder } from '../../../support/test-folder.js';

/** A file holds 20 to 40 ids. */
const SMALL: IndexSize = { tableBits: 5, filterBytes: 1024 * 1024 };

/** Simulates the tables: the last commit of every id, by number. */
class Rows implements IdRows {
  readonly seqs = new Map<number, number>();
  /** Ids looked up so far. */
  scanned = 0;

  async scan({ after, upTo }: { after: number; upTo: number }, add: Parameters<IdRows['scan']>[1]) {
    for (const [id, seq] of this.seqs) {
      if (seq <= after || seq > upTo) continue;
      this.scanned++;
      add(tenantOf(id), wordsOf(id), 0, seq);
    }
    await Promise.resolve();
  }

  async cut({ after, upTo }: { after: number; upTo: number }, ids: number) {
    const seqs = [...this.seqs.values()].filter((seq) => seq > after && seq <= upTo).sort((a, b) => a - b);
    const parts: RowsPart[] = [];
    let from = 0;
    for (const [i, seq] of seqs.entries()) {
      if (i + 1 < seqs.length && ((i + 1) % ids !== 0 || seq === seqs[i + 1])) continue;
      parts.push({ upTo: seq, ids: i + 1 - from });
      from = i + 1;
    }
    return Promise.resolve(parts);
  }
}

function tenantOf(id: number): number {
  return 1 + (id % 3);
}

function wordsOf(id: number): Uint32Array {
  return Uint32Array.of(id, 7, id >>> 4, 1);
}

interface Opened {
  readonly index: IdIndex;
  readonly lines: string[];
}

async function open(
  folder: string,
  rows: Rows,
  { lastSeq, store = 1, size = SMALL }: { lastSeq: number; store?: number; size?: IndexSize },
): Promise<Opened> {
  const logger = new RecordingLogger();
  const index = await IdIndex.open({
    mainPath: join(folder, 'jackdaw.duckdb'),
    kind: 'traces',
    store,
    lastSeq,
    rows,
    logger,
    size,
  });
  return { index, lines: logger.lines };
}

function filesOf(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.ids'))
    .sort()
    .map((name) => join(folder, name));
}

function runsIn(folder: string): number {
  return filesOf(folder).length;
}

/** Flips one bit of a file. */
function damage(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

const id = fc.nat(400);
const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ put: fc.array(id, { minLength: 1, maxLength: 30 }) }) },
  { weight: 2, arbitrary: fc.record({ reopen: fc.constantFrom('closed', 'settled') }) },
  { weight: 2, arbitrary: fc.record({ kill: fc.constant(true) }) },
  { weight: 1, arbitrary: fc.record({ rest: fc.constant(true) }) },
  { weight: 2, arbitrary: fc.record({ damage: fc.nat(), at: fc.nat(200_000) }) },
  { weight: 1, arbitrary: fc.record({ lose: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ cut: fc.nat(), pages: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ remove: fc.nat(100) }) },
);

void t.test('matches a map regardless of damaged files and crashes', async (t) => {
  const root = testFolder(t);
  await neverDiffers(
    t,
    { runs: 60, ms: 2500 },
    [fc.array(step, { minLength: 5, maxLength: 60 }), fc.boolean()],
    async (steps, hasMemory) => {
      const size = { ...SMALL, filterBytes: hasMemory ? 1024 * 1024 : 3 * PAGE_BYTES };
      let folder = mkdtempSync(join(root, 'run-'));
      const rows = new Rows();
      let lastSeq = 0;
      let { index } = await open(folder, rows, { lastSeq, size });
      const find = async (one: number): Promise<number> => {
        for (let tries = 0; ; tries++) {
          try {
            return index.find(tenantOf(one), wordsOf(one), 0);
          } catch (error) {
            if (!(error instanceof ConsumeError) || tries > 5) throw error;
            // Refused once: the damaged file is rebuilt.
            await index.settled();
          }
        }
      };
      const reopen = async (): Promise<void> => {
        index = (await open(folder, rows, { lastSeq, size })).index;
      };
      try {
        for (const one of steps) {
          if ('put' in one) {
            lastSeq += 2;
            for (const put of one.put) {
              index.put(tenantOf(put), wordsOf(put), 0, lastSeq);
              rows.seqs.set(put, lastSeq);
            }
          } else if ('reopen' in one) {
            if (one.reopen === 'settled') await index.settled();
            await index.close();
            await reopen();
          } else if ('kill' in one) {
            // A copy of the disk during writes.
            const copy = mkdtempSync(join(root, 'run-'));
            cpSync(folder, copy, { recursive: true });
            await index.close();
            rmSync(folder, { recursive: true });
            folder = copy;
            await reopen();
          } else if ('rest' in one) await index.settled();
          else if ('remove' in one) {
            for (const [gone, seq] of rows.seqs) if (seq <= lastSeq - one.remove) rows.seqs.delete(gone);
            index.trim();
          } else {
            await index.settled();
            const files = filesOf(folder);
            const pick = 'damage' in one ? one.damage : 'cut' in one ? one.cut : one.lose;
            const path = files[pick % Math.max(1, files.length)];
            if (path === undefined) continue;
            // In place while open; the next start detects lost or truncated files.
            if ('damage' in one) damage(path, one.at);
            else {
              await index.close();
              if ('lose' in one) rmSync(path);
              else writeFileSync(path, readFileSync(path).subarray(0, one.pages * PAGE_BYTES));
              await reopen();
            }
          }
          for (const [known, seq] of rows.seqs) {
            const found = await find(known);
            if (found !== seq) throw new Error(`${known} is in ${found} instead of ${seq}`);
          }
          for (let never = 401; never < 420; never++) {
            const found = await find(never);
            if (found !== 0) throw new Error(`${never} was never stored, and is in ${found}`);
          }
        }
        await index.settled();
        if (runsIn(folder) > 12) throw new Error(`${runsIn(folder)} files are left`);
      } finally {
        await index.close();
        rmSync(folder, { recursive: true });
      }
    },
  );
});

void t.test('indexes many ids with few files and little memory, per user', async (t) => {
  const folder = testFolder(t);
  const rows = new Rows();
  const { index } = await open(folder, rows, { lastSeq: 0, size: { tableBits: 10, filterBytes: 64 * 1024 } });
  t.teardown(() => index.close());
  const bytes = randomBytes(100_000 * 16);
  const ids = new Uint32Array(bytes.buffer, bytes.byteOffset, 100_000 * 4);
  for (let i = 0; i < 100_000; i++) {
    index.put(1, ids, i * 4, 1 + Math.floor(i / 100));
    if (i % 5000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  let missed = 0;
  let others = 0;
  for (let i = 0; i < 100_000; i++) {
    if (index.find(1, ids, i * 4) !== 1 + Math.floor(i / 100)) missed++;
    if (i % 10 === 0 && index.find(2, ids, i * 4) !== 0) others++;
  }
  t.equal(missed, 0, 'also while files are written and merged');
  t.equal(others, 0, 'ids of another tenant differ');
  await index.settled();
  t.ok(runsIn(folder) < 16, `${runsIn(folder)} files`);
  t.ok(index.bytes < 256 * 1024, `${index.bytes} bytes of memory`);
  t.equal(index.find(1, ids, 0), 1);
  for (const path of filesOf(folder)) t.equal(statSync(path).mode & 0o777, 0o600);
});

void t.test('reads only missing ids from the tables and logs it', async (t) => {
  const folder = testFolder(t);
  const rows = new Rows();
  const first = await open(folder, rows, { lastSeq: 0 });
  for (let n = 0; n < 300; n++) {
    first.index.put(tenantOf(n), wordsOf(n), 0, n + 1);
    rows.seqs.set(n, n + 1);
  }
  await first.index.settled();
  await first.index.close();
  rows.scanned = 0;
  const again = await open(folder, rows, { lastSeq: 300 });
  t.ok(rows.scanned < 40, `${rows.scanned} ids came after the last file`);
  t.same(again.lines, []);
  await again.index.close();
  const [lost = ''] = filesOf(folder);
  rmSync(lost);
  const healed = await open(folder, rows, { lastSeq: 300 });
  t.match(healed.lines, [/rebuilding it from the tables/]);
  t.equal(healed.index.find(tenantOf(3), wordsOf(3), 0), 4);
  await healed.index.close();
  const other = await open(folder, rows, { lastSeq: 300, store: 2 });
  t.match(other.lines[0], /belongs to another store/);
  t.equal(other.index.find(tenantOf(3), wordsOf(3), 0), 4);
  await other.index.close();
  // A store restored from a backup assigns later commit numbers again.
  for (const [n, seq] of rows.seqs) if (seq > 100) rows.seqs.delete(n);
  const earlier = await open(folder, rows, { lastSeq: 100, store: 2 });
  t.equal(earlier.index.find(tenantOf(250), wordsOf(250), 0), 0);
  t.equal(earlier.index.find(tenantOf(50), wordsOf(50), 0), 51);
  await earlier.index.close();
});

void t.test('merges the files that a start rebuilds while it writes them', async (t) => {
  const folder = testFolder(t);
  let most = 0;
  class WatchedRows extends Rows {
    override async scan(...args: Parameters<Rows['scan']>): Promise<void> {
      most = Math.max(most, runsIn(folder));
      await super.scan(...args);
    }
  }
  const rows = new WatchedRows();
  for (let n = 0; n < 3000; n++) rows.seqs.set(n, n + 1);
  const { index, lines } = await open(folder, rows, { lastSeq: 3000 });
  t.teardown(() => index.close());
  t.ok(most > 2 && most < 16, `at most ${most} files at a time`);
  t.same(lines, []);
  for (let n = 0; n < 3000; n++)
    if (index.find(tenantOf(n), wordsOf(n), 0) !== n + 1) t.fail(`${n} is not found`);
});

void t.test('removes ids from disk that are no longer in the tables', async (t) => {
  const folder = testFolder(t);
  const rows = new Rows();
  const { index } = await open(folder, rows, { lastSeq: 0 });
  t.teardown(() => index.close());
  for (let n = 0; n < 2000; n++) {
    index.put(tenantOf(n), wordsOf(n), 0, n + 1);
    rows.seqs.set(n, n + 1);
    if (n % 100 === 0) await index.settled();
  }
  await index.settled();
  t.ok(index.size >= 2000);
  for (const [n, seq] of rows.seqs) if (seq <= 1800) rows.seqs.delete(n);
  index.trim();
  await index.settled();
  t.ok(index.size <= 400, `${index.size} ids are left`);
  t.equal(index.find(tenantOf(1900), wordsOf(1900), 0), 1901);
});

void t.test('keeps ids in memory while files cannot be written', async (t) => {
  const folder = testFolder(t);
  const rows = new Rows();
  const { index, lines } = await open(folder, rows, { lastSeq: 0 });
  t.teardown(() => index.close());
  rmSync(folder, { recursive: true });
  for (let n = 0; n < 300; n++) index.put(tenantOf(n), wordsOf(n), 0, n + 1);
  await index.settled();
  t.match(lines[0], /Could not write files/);
  t.notOk(existsSync(folder));
  for (let n = 0; n < 300; n++) t.equal(index.find(tenantOf(n), wordsOf(n), 0), n + 1);
});

/** Lets some reads of pages return zeros instead of their data, until the returned function is called. */
async function returnZeros(folder: string, isBad: (at: number) => boolean): Promise<() => void> {
  const handle = await openFile(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const original = Object.getOwnPropertyDescriptor(prototype, 'read');
  if (original === undefined) throw new Error('FileHandle has no method read');
  const read = original.value as (
    this: FileHandle,
    bytes: Uint8Array,
    offset: number,
    length: number,
    at: number,
  ) => Promise<{ bytesRead: number }>;
  Object.defineProperty(prototype, 'read', {
    ...original,
    async value(this: FileHandle, ...args: Parameters<typeof read>) {
      const result = await read.apply(this, args);
      const [bytes, offset, length, at] = args;
      if (isBad(at)) bytes.fill(0, offset, offset + length);
      return result;
    },
  });
  return () => Object.defineProperty(prototype, 'read', original);
}

for (const [what, isBad] of Object.entries({
  'no page': () => true,
  'no filter': (at: number) => at === 0,
})) {
  void t.test(`a disk that returns ${what} as it was written stops the work with an error`, async (t) => {
    const folder = testFolder(t);
    const rows = new Rows();
    const { index, lines } = await open(folder, rows, { lastSeq: 0 });
    t.teardown(() => index.close());
    const putAll = (from: number, to: number): void => {
      for (let n = from; n < to; n++) {
        index.put(tenantOf(n), wordsOf(n), 0, n + 1);
        rows.seqs.set(n, n + 1);
      }
    };
    const restore = await returnZeros(folder, isBad);
    t.teardown(restore);
    putAll(0, 100);
    const isSettled = await Promise.race([
      index.settled().then(() => true),
      setTimeout(1000, false, { ref: false }),
    ]);
    if (!isSettled) index.stop();
    t.ok(isSettled, 'it does not go on forever');
    t.equal(lines.length, 1, 'with one error');
    t.match(lines[0], /Could not write files.*is damaged/);
    restore();
    putAll(100, 200);
    await index.settled();
    for (let n = 0; n < 200; n++) t.equal(index.find(tenantOf(n), wordsOf(n), 0), n + 1);
    t.ok(runsIn(folder) > 0);
  });
}
