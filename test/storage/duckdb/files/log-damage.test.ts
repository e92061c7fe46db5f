import { randomBytes } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  COMMIT_MARK,
  LogFile,
  unknownVersion,
} from '../../../../src/storage/duckdb/files/duckdb-1-5-format.js';
import { attachWithLog, examineLog } from '../../../../src/storage/duckdb/files/log-damage.js';
import { openOwnDatabase } from '../../../../src/storage/duckdb/files/own-database.js';
import { aTrace, NOON } from '../../../support/run-records.js';
import { testFolder } from '../../../support/test-folder.js';
import { commitEnds, entriesOf } from '../log-files.js';
import { filesOf } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

t.setTimeout(0);

const HEAD_BYTES = 8;
const PAGE_BYTES = 4096;
/** Of the entry that ends a commit. */
const COMMIT_BYTES = 21;

/** The log of a hot segment with one commit per number of spans. */
async function aLogOf(t: Test, spans: readonly number[]): Promise<Buffer> {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1e9, bytes: 1e9 } });
  const tenant = await opened.addUser();
  for (const count of spans)
    await opened.store.writer.traces({ tenant, items: [aTrace(count)] }, { receivedAt: NOON });
  await opened.store.settled();
  await opened.close();
  const [segment = ''] = filesOf(opened.path).filter((file) => file.includes('.hot-'));
  return readFileSync(`${segment}.wal`);
}

/** A log of DuckDB itself. @param statements a commit each; the file is named `made` */
async function aLogAfter(t: Test, statements: readonly string[]): Promise<Buffer> {
  const folder = testFolder(t);
  const database = await openOwnDatabase(folder);
  const { connection } = database;
  const path = join(folder, 'made.duckdb');
  try {
    await connection.run(`ATTACH '${path}' AS made (STORAGE_VERSION 'v1.2.0')`);
    for (const statement of statements) await connection.run(statement);
    return readFileSync(`${path}.wal`);
  } finally {
    database.close();
  }
}

/** Avoids `writeFile`: file systems flush truncated and rewritten files immediately. */
function rewrite(log: string, bytes: Buffer): void {
  const file = openSync(log, 'r+');
  writeSync(file, bytes, 0, bytes.length, 0);
  ftruncateSync(file, bytes.length);
  closeSync(file);
}

/** Whether all entries are in place with valid checksums. */
function areSound(log: string, whole: Buffer): boolean {
  const entries = new LogFile(log);
  const isSound = entriesOf(whole).every(({ at, end }) => {
    const entry = entries.at(at);
    return entry !== null && entry.end === end && entries.isSound(entry);
  });
  entries.close();
  return isSound;
}

/** Whether an entry has zeros at the end of a page, and so looks like one that a crash tore. */
function hasPageTail(log: Buffer, at: number, end: number): boolean {
  for (let pageEnd = Math.ceil(at / PAGE_BYTES) * PAGE_BYTES; pageEnd < end; pageEnd += PAGE_BYTES)
    if (log[pageEnd - 1] === 0) return true;
  return false;
}

function emptyLog(t: Test): string {
  const log = join(testFolder(t), 'log.wal');
  writeFileSync(log, '');
  return log;
}

/** Where startup stops reading a log that DuckDB would reject; null if it is damaged. */
function readEnd(log: string): number | null {
  const state = examineLog(log);
  if (state.kind === 'damaged') return null;
  if (state.kind === 'torn') truncateSync(log, state.end);
  const refused = examineLog(log, true);
  if (refused.kind === 'torn') truncateSync(log, refused.end);
  return statSync(log).size;
}

/** End of the last complete commit before a position. */
function endBefore(ends: readonly number[], place: number): number {
  return Math.max(HEAD_BYTES, ...ends.filter((end) => end <= place));
}

void t.test(
  'DuckDB itself mishandles incomplete and damaged logs (examineLog is obsolete when this fails)',
  async (t) => {
    const folder = testFolder(t);
    const database = await openOwnDatabase(folder);
    t.teardown(() => {
      database.close();
    });
    const { connection } = database;
    const made = join(folder, 'made.duckdb');
    await connection.run(`ATTACH '${made}' AS made (STORAGE_VERSION 'v1.2.0')`);
    await connection.run('CREATE TABLE made.t (a VARCHAR)');
    for (let i = 0; i < 3; i++) await connection.run("INSERT INTO made.t VALUES (repeat('x', 3000))");
    const [file, log] = [readFileSync(made), readFileSync(`${made}.wal`)];
    const [table = 0, , second = 0, third = 0] = commitEnds(log);
    const rowsOf = async (shown: Buffer): Promise<number> => {
      const path = join(folder, 'shown.duckdb');
      writeFileSync(path, file);
      writeFileSync(`${path}.wal`, shown);
      await connection.run(`ATTACH '${path}' AS shown`);
      try {
        const [row] = await connection.rows('SELECT count(*) AS rows FROM shown.t');
        return Number(row?.rows);
      } finally {
        await connection.run('DETACH shown');
      }
    };
    t.equal(await rowsOf(log), 3);
    for (const cut of [third - 1, third - 21, second + 5, second])
      t.equal(await rowsOf(log.subarray(0, cut)), 2, 'it reads a truncated log up to its last commit');
    const longer = Buffer.from(log);
    longer[table + 3] = 0x11;
    t.equal(await rowsOf(longer), 0, 'it drops acknowledged commits after a damaged length');
    const gap = Math.ceil(second / 512) * 512;
    const refusal = { message: /Corrupt WAL file: entry at byte position/ };
    await t.rejects(rowsOf(Buffer.from(log).fill(0, gap, gap + 512)), refusal, 'it refuses a gap');
    await t.rejects(
      rowsOf(Buffer.concat([log, Buffer.alloc(PAGE_BYTES)])),
      refusal,
      'it refuses zeros after the end',
    );
  },
);

void t.test('reads a truncated log up to its last commit', async (t) => {
  const whole = await aLogOf(t, [1, 2]);
  const ends = commitEnds(whole);
  t.equal(ends.at(-1), whole.length);
  t.ok(ends.length >= 3);
  const log = emptyLog(t);
  const wrong: unknown[] = [];
  for (let cut = whole.length; cut >= HEAD_BYTES; cut--) {
    rewrite(log, whole.subarray(0, cut));
    const [end, expected] = [readEnd(log), endBefore(ends, cut)];
    if (end !== expected) wrong.push({ cut, end, expected });
  }
  t.same(wrong.slice(0, 5), []);
  for (let cut = 0; cut < HEAD_BYTES; cut++) {
    rewrite(log, whole.subarray(0, cut));
    t.equal(readEnd(log), cut, 'a log without a header is left to DuckDB');
  }
});

void t.test('reads a log that ends in zeros up to its last commit', async (t) => {
  const whole = await aLogOf(t, [1, 30]);
  const ends = commitEnds(whole);
  const log = emptyLog(t);
  const wrong: unknown[] = [];
  const last = ends.at(-2) ?? 0;
  for (let cut = last; cut <= whole.length; cut += 3) {
    const toPage = PAGE_BYTES - (cut % PAGE_BYTES);
    for (const zeros of [1, 15, 16, 100, toPage, toPage + PAGE_BYTES]) {
      rewrite(log, Buffer.concat([whole.subarray(0, cut), Buffer.alloc(zeros)]));
      const [end, expected] = [readEnd(log), endBefore(ends, cut)];
      if (end !== expected) wrong.push({ cut, zeros, end, expected });
    }
  }
  t.same(wrong.slice(0, 5), []);
});

void t.test('reads a log with missing pages in the last commit up to the previous commit', async (t) => {
  // Earlier commits shift the page alignment of the last one.
  for (const first of [1, 3, 8]) {
    const whole = await aLogOf(t, [first, 900]);
    const last = commitEnds(whole).at(-2) ?? 0;
    t.ok(whole.length - last > 20 * PAGE_BYTES, 'the last commit spans many pages');
    const log = emptyLog(t);
    const wrong: unknown[] = [];
    let seen = 0;
    const tear = (from: number, to: number): void => {
      const torn = Buffer.from(whole);
      torn.fill(0, Math.min(whole.length, Math.max(from, last)), Math.min(whole.length, to));
      if (torn.equals(whole)) return;
      rewrite(log, torn);
      // Missing 8-byte words that occur twice cancel each other out in DuckDB's checksum and cannot be detected.
      const isUnseen = areSound(log, whole);
      const end = readEnd(log);
      if (end !== (isUnseen ? whole.length : last)) wrong.push({ from, to, end });
      seen += isUnseen ? 0 : 1;
    };
    for (let page = last - (last % PAGE_BYTES); page < whole.length; page += PAGE_BYTES) {
      tear(page, page + PAGE_BYTES);
      tear(page, page + 3 * PAGE_BYTES);
      tear(page + 512, page + 1024);
      tear(page + 2000 + (page % 1777), page + PAGE_BYTES);
    }
    for (const { at } of entriesOf(whole).filter((entry) => entry.at >= last)) {
      // The first page of an entry, and the next one.
      const page = at - (at % PAGE_BYTES);
      tear(page, page + PAGE_BYTES);
      tear(page + PAGE_BYTES, page + 2 * PAGE_BYTES);
    }
    t.same(wrong.slice(0, 5), []);
    t.ok(seen > 50, `${seen} tears`);
  }
});

void t.test('cuts a torn commit whatever the length of the zeros at a page end', async (t) => {
  // Random text, in which there are no zeros, in entries of up to two pages.
  const texts = Array.from({ length: 60 }, (_, i) => randomBytes(20 + ((i * 7) % 60) * 60).toString('hex'));
  const whole = await aLogAfter(t, [
    texts.map((_, i) => `CREATE TABLE made.t${i} (a VARCHAR);`).join(''),
    `BEGIN; ${texts.map((text, i) => `INSERT INTO made.t${i} VALUES ('${text}');`).join('')} COMMIT`,
  ]);
  const last = commitEnds(whole).at(-2) ?? 0;
  t.ok(whole.length - last > 20 * PAGE_BYTES, 'many pages are in it');
  const commit = whole.subarray(-COMMIT_BYTES);
  const log = emptyLog(t);
  for (const gap of [1, 2, 7, 8, 9, 16, 100, 255, 510, 511, 512, 513, 1000, 2500, 4000]) {
    // Empty commits shift the last one. DuckDB writes 4096 bytes at a time, so a page may be filled up to the commit's own offset.
    let begin = last;
    const shift: Buffer[] = [];
    for (; begin % PAGE_BYTES !== PAGE_BYTES - gap; begin += COMMIT_BYTES) shift.push(commit);
    const shifted = Buffer.concat([whole.subarray(0, last), ...shift, whole.subarray(last)]);
    const wrong: unknown[] = [];
    let seen = 0;
    for (let pageEnd = begin + gap; pageEnd < shifted.length; pageEnd += PAGE_BYTES) {
      const torn = Buffer.from(shifted).fill(0, pageEnd - gap, pageEnd);
      rewrite(log, torn);
      if (torn.equals(shifted) || areSound(log, shifted)) continue;
      const end = readEnd(log);
      if (end !== begin) wrong.push({ pageEnd, end, begin });
      seen++;
    }
    t.same(wrong.slice(0, 5), [], `${gap} bytes`);
    t.ok(seen > 5, `${gap} bytes: ${seen} tears`);
  }
});

void t.test('the mark of a commit in the data of an entry ends no commit', async (t) => {
  const mark = COMMIT_MARK.toString('hex');
  const [before, after] = [randomBytes(3000).toString('hex'), randomBytes(9000).toString('hex')];
  const insert = `INSERT INTO made.t VALUES (unhex('${before}${mark}${after}'))`;
  const whole = await aLogAfter(t, ['CREATE TABLE made.t (a BLOB)', insert, insert]);
  const [table = 0, last = 0] = commitEnds(whole);
  const markEnd = whole.indexOf(COMMIT_MARK, last) + COMMIT_MARK.length;
  t.ok(markEnd < whole.length - 9000, 'the data has the mark');
  const log = emptyLog(t);
  for (const cut of [
    markEnd - 1,
    markEnd + 1,
    markEnd + 15,
    markEnd + 16,
    markEnd + 5000,
    whole.length - 30,
  ]) {
    rewrite(log, whole.subarray(0, cut));
    t.strictSame(
      examineLog(log),
      { kind: 'torn', end: last },
      `killed ${cut - markEnd} bytes after the mark`,
    );
  }
  const sector = Math.ceil(last / 512) * 512;
  rewrite(log, Buffer.from(whole).fill(0, sector, sector + 512));
  t.strictSame(examineLog(log, true), { kind: 'torn', end: last }, 'a sector is missing before the mark');
  const damaged = Buffer.from(whole);
  damaged[table + 3] = 0x11;
  rewrite(log, damaged);
  t.strictSame(
    examineLog(log),
    { kind: 'damaged', at: table, end: table },
    'a sound commit follows the damage',
  );
});

void t.test('reports an entry with an excessive length as damaged', async (t) => {
  const whole = await aLogOf(t, [1, 3, 40, 2]);
  const ends = commitEnds(whole);
  const log = emptyLog(t);
  const wrong: unknown[] = [];
  const spoil = (name: string, at: number, change: (damaged: Buffer) => void): void => {
    const damaged = Buffer.from(whole);
    change(damaged);
    rewrite(log, damaged);
    const state = examineLog(log);
    const end = endBefore(ends, at);
    if (JSON.stringify(state) !== JSON.stringify({ kind: 'damaged', at, end }))
      wrong.push({ name, at, state });
    if (!readFileSync(log).equals(damaged)) wrong.push('it was changed');
  };
  for (const { at } of entriesOf(whole)) {
    spoil('as if by a hand', at, (damaged) => damaged.fill(0x5a, at, at + 8));
    spoil('to the last byte of 64 bits', at, (damaged) => damaged.fill(0xff, at, at + 8));
    for (const place of [2, 3, 4, 7])
      spoil(`byte ${place}`, at, (damaged) => (damaged[at + place] = 0x11 + (damaged[at + place] ?? 0)));
    spoil('just beyond the end', at, (damaged) =>
      damaged.writeBigUInt64LE(BigInt(whole.length - at - 15), at),
    );
  }
  const entries = entriesOf(whole).length;
  t.same(wrong.slice(0, 5), [], `of ${entries} entries`);
  // Any header byte, also without a second commit, because DuckDB would drop the only one.
  for (const shown of [whole, whole.subarray(0, ends[0])]) {
    for (let place = 0; place < HEAD_BYTES; place++) {
      const damaged = Buffer.from(shown);
      damaged[place] = 0x5a;
      rewrite(log, damaged);
      t.strictSame(examineLog(log), { kind: 'damaged', at: 0, end: 0 }, `byte ${place} of the header`);
    }
  }
});

void t.test('treats a log with a missing first page as unacknowledged', async (t) => {
  const whole = await aLogOf(t, [1, 2]);
  const [first = 0] = commitEnds(whole);
  const log = emptyLog(t);
  for (const end of [first, first - 1, PAGE_BYTES]) {
    rewrite(log, Buffer.from(whole.subarray(0, end)).fill(0, 0, PAGE_BYTES));
    t.strictSame(examineLog(log), { kind: 'torn', end: 0 });
  }
  rewrite(log, Buffer.from(whole).fill(0, 0, PAGE_BYTES));
  t.strictSame(examineLog(log), { kind: 'damaged', at: 0, end: 0 }, 'but damaged if later commits follow');
});

void t.test('reports damage that a crash cannot cause', async (t) => {
  const whole = await aLogOf(t, [200, 100, 100]);
  const ends = commitEnds(whole);
  const [before = 0, last = 0] = ends.slice(-3);
  const log = emptyLog(t);
  // Later commits prove that this page was written.
  const page = Math.ceil(before / PAGE_BYTES + 1) * PAGE_BYTES;
  t.ok(page + PAGE_BYTES < last);
  const damaged = Buffer.from(whole).fill(0, page, page + PAGE_BYTES);
  rewrite(log, damaged);
  t.not(examineLog(log).kind, 'torn');
  t.not(examineLog(log, true).kind, 'torn');
  t.same(readFileSync(log), damaged);
  for (const { at, end } of entriesOf(whole).filter((entry) => entry.at >= last)) {
    if (hasPageTail(whole, at, end)) continue;
    rewrite(log, Buffer.from(whole).fill(0x5a, Math.max(at + 16, end - 5), end));
    t.equal(examineLog(log, true).kind, 'damaged', `data of the entry at byte ${at} of the last commit`);
  }
  // Damaged entry lengths: truncating there would lose later commits.
  for (const { at } of entriesOf(whole).filter((entry) => entry.at >= (ends[0] ?? 0) && entry.end < last)) {
    const sector = at - (at % 512);
    rewrite(log, Buffer.from(whole).fill(0, sector, sector + 512));
    t.not(examineLog(log).kind, 'torn', `an entry at byte ${at}`);
  }
});

void t.test('leaves logs of other versions to DuckDB', async (t) => {
  const whole = await aLogOf(t, [1, 2]);
  const log = emptyLog(t);
  for (const head of ['6400626500026600', '6400626500036600']) {
    rewrite(log, Buffer.concat([Buffer.from(head, 'hex'), whole.subarray(HEAD_BYTES, -30)]));
    t.same(examineLog(log), { kind: 'unknown' });
    const warnings: string[] = [];
    await attachWithLog(log.slice(0, -'.wal'.length), {
      attach: () => Promise.resolve(),
      warn: (_, message) => void warnings.push(message),
    });
    t.match(warnings, [/Cannot check this log/]);
  }
  t.same(examineLog(join(testFolder(t), 'none')), { kind: 'readable' });
  t.equal(unknownVersion(), null, 'after an update of DuckDB, check the comments in duckdb-1-5-format.ts');
  t.match(unknownVersion('v1.6.0'), /v1\.5\.5.*v1\.6\.0 is installed.*npm ci/);
});
