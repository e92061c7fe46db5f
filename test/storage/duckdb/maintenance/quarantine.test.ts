import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import {
  copyFileSync,
  existsSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import t, { type Test } from 'tap';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import { uuidV7 } from '../../../../src/signal/ids.js';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import type { DuckDBStoreOptions } from '../../../../src/storage/duckdb/client/store.js';
import { aLog } from '../../../support/log-records.js';
import { aMetric, aPoint } from '../../../support/metric-points.js';
import { aSpanRecord, aTrace, DAY, NOON } from '../../../support/run-records.js';
import { until } from '../../../support/until.js';
import { entriesOf } from '../log-files.js';
import { searchLogs } from '../log-search.js';
import { shownMap } from '../shown-map.js';
import { spansOf } from '../shown-spans.js';
import { duplicatesIn, filesOf, inColdFile, inFile, inOneFile, wrongSumsIn } from '../stored-rows.js';
import { textOf } from '../../../support/read-pieces.js';
import { TestStore } from '../test-store.js';

t.setTimeout(0);

const CONTEXT = { receivedAt: NOON };
const QUOTA = { monthly_items: 1_000_000 };
const PAGE = { offset: 0, limit: 500 };
/** Segments are sealed only when a test step requests it. */
const OPTIONS: Partial<DuckDBStoreOptions> = {
  segmentSize: { rows: 1e9, bytes: 1e9 },
  compactionSettings: { retryMs: 1, lateEveryMs: 3_600_000 },
};
/** Adds a row that the cold file refuses; the rest of the segment is valid. */
const SPOIL = [
  'ALTER TABLE origins ALTER origin DROP NOT NULL',
  'INSERT INTO origins SELECT max(seq), 1, 1000000, NULL FROM traces',
];
const REMEDY = ['DELETE FROM origins WHERE origin IS NULL'];

/** All API results of a user. Agents are identified by name because their ids are random. */
async function allOf(opened: TestStore, tenant: string, traceIds: readonly string[]): Promise<unknown> {
  const { store } = opened;
  const agents = await store.agents.list(tenant);
  const traces: unknown[] = [];
  for (const id of traceIds) {
    const trace = await store.runs.read(tenant, id);
    traces.push(trace === null ? null : [{ ...trace, spans: await spansOf(trace) }]);
  }
  const points = await store.metrics.query(tenant, 'queue', { limit: 1000 });
  const all = {
    agents,
    traces,
    runs: await store.runs.list(tenant, {}, PAGE),
    compared:
      agents.length === 0
        ? []
        : await store.agents.compare(
            tenant,
            agents.map(({ id }) => id),
          ),
    models: await store.models.list(tenant, {}, PAGE),
    metrics: await store.metrics.list(tenant),
    points: points === null ? null : await textOf(points.points),
    logs: await searchLogs(store, tenant, { query: 'happened' }, PAGE),
    map: await shownMap(opened, tenant),
    usage: await store.usage.read(tenant, NOON),
    prompts: await store.prompts.compare(tenant, 'p'),
  };
  let json = JSON.stringify(all);
  for (const { id, name } of agents) json = json.replaceAll(id, name);
  return JSON.parse(json) as unknown;
}

const AT = (n: number): number => NOON + n * 1_000_000;

/** The writes in three parts; each changes data of the previous ones. */
function threeParts(): { readonly ids: readonly string[]; readonly parts: readonly (readonly Work[])[] } {
  const span = (trace: string, n: number, changes: Partial<SpanRecord> = {}): SpanRecord =>
    aSpanRecord(trace, {
      started_at: AT(n),
      ended_at: AT(n + 1),
      model: `model ${n % 3}`,
      total_tokens: 10 + n,
      cost_usd: 1000 + n,
      metadata: { 'peer.service': `service ${n % 4}` },
      type: n % 2 === 0 ? 'llm' : 'http',
      ...changes,
    });
  const runs = Array.from({ length: 12 }, (_, n): TraceRecord => {
    const { trace } = aTrace(0, {
      agent: `agent ${n % 3}`,
      status: n % 2 === 0 ? 'running' : 'completed',
      started_at: AT(n) - (n % 3) * DAY,
      total_cost_usd: null,
    });
    return {
      trace,
      spans: [0, 1, 2].map((i) =>
        span(trace.trace_id, n * 3 + i, i === 2 ? { status: 'running', ended_at: null } : {}),
      ),
    };
  });
  const pick = (numbers: readonly number[]): TraceRecord[] => numbers.flatMap((n) => runs[n] ?? []);
  const ended = (numbers: readonly number[]): TraceRecord[] =>
    pick(numbers).map(({ trace, spans }) => ({
      trace: { ...trace, status: 'failed', ended_at: trace.started_at + DAY / 24 },
      spans: [
        ...spans.map((one) => ({
          ...one,
          status: 'completed' as const,
          ended_at: one.started_at + 5_000_000,
        })),
        span(trace.trace_id, 50),
      ],
    }));
  const ids = runs.map(({ trace }) => trace.trace_id);
  const logs = (from: number): Work => {
    const items = Array.from({ length: 6 }, (_, n) =>
      aLog({ id: uuidV7(NOON / 1000), timestamp: AT(from + n), trace_id: ids[n] ?? null }),
    );
    return ({ store }, tenant) => store.writer.logs({ tenant, items, quota: QUOTA }, CONTEXT);
  };
  const points = (from: number, unit: string): Work => {
    const items = Array.from({ length: 6 }, (_, n) =>
      aPoint({ stream: aMetric({ name: 'queue', unit }), timestamp: AT(from + n), value: n }),
    );
    return ({ store }, tenant) => store.writer.metrics({ tenant, items, quota: QUOTA }, CONTEXT);
  };
  const traces =
    (items: TraceRecord[]): Work =>
    ({ store }, tenant) =>
      store.writer.traces({ tenant, items, quota: QUOTA, service_map: deriveBatch(items) }, CONTEXT);
  const outcome =
    (n: number, text: string): Work =>
    ({ store }, tenant) =>
      store.runs.setOutcome(tenant, ids[n] ?? '', { success: n % 2 === 0, outcome: text });
  const link =
    (n: number): Work =>
    ({ store }, tenant) =>
      store.prompts.link(
        tenant,
        { prompt_name: 'p', prompt_version: 1, trace_id: ids[n] ?? '', span_id: null },
        NOON,
      );
  return {
    ids,
    parts: [
      [traces(pick([0, 1, 2, 3])), logs(0), points(0, 'a'), link(0)],
      // This part is quarantined. It changes earlier data.
      [
        traces(pick([4, 5, 6, 7])),
        traces(ended([0])),
        outcome(1, 'first'),
        logs(10),
        points(10, 'b'),
        link(4),
        link(0),
      ],
      [
        traces(pick([8, 9])),
        traces(ended([2, 4])),
        outcome(5, 'second'),
        outcome(1, 'third'),
        logs(20),
        points(20, 'c'),
        link(5),
      ],
      [
        traces(pick([10, 11])),
        traces(ended([6])),
        outcome(4, 'fourth'),
        outcome(7, 'fifth'),
        logs(30),
        points(30, 'a'),
        link(6),
      ],
    ],
  };
}

type Work = (opened: TestStore, tenant: string) => Promise<unknown>;

async function openWithUser(t: Test, path?: string): Promise<readonly [TestStore, string]> {
  const opened = await TestStore.open(t, { ...OPTIONS, ...(path !== undefined && { path }) });
  const tenant = await opened.addUser();
  await opened.control.prompts.create(tenant, {
    id: randomUUID(),
    name: 'p',
    version: 1,
    type: 'text',
    template_text: '',
    description: null,
    is_active: true,
    created_at: NOON,
  });
  return [opened, tenant];
}

async function write([opened, tenant]: readonly [TestStore, string], works: readonly Work[]): Promise<void> {
  for (const work of works) await work(opened, tenant);
}

/** Two stores, one to be damaged. The first part is in their cold files, the second in a hot segment. */
async function twoStores(t: Test) {
  const { ids, parts } = threeParts();
  const sound = await openWithUser(t);
  const other = await openWithUser(t, join(dirname(sound[0].path), 'damaged.duckdb'));
  const writeBoth = async (works: readonly Work[]): Promise<void> => {
    for (const store of [sound, other]) await write(store, works);
  };
  await writeBoth(parts[0] ?? []);
  await sound[0].reopen();
  await other[0].reopen();
  await writeBoth(parts[1] ?? []);
  const [damaged, tenant] = other;
  await damaged.store.settled();
  await damaged.close();
  const [segment = ''] = hotFilesOf(damaged.path);
  const same = async (when: string, also: readonly string[] = []): Promise<void> => {
    const asked = [...ids, ...also];
    t.strictSame(await allOf(...other, asked), await allOf(...sound, asked), when);
  };
  return { damaged, tenant, ids, parts, segment, writeBoth, same };
}

function hotFilesOf(path: string): string[] {
  return filesOf(path).filter((file) => file.includes('.hot-'));
}

const SMALL = { segmentSize: { rows: 20, bytes: 1e9 } };

void t.test(
  'quarantines a segment that cannot be compacted, keeps reading it and compacts it once possible',
  async (t) => {
    const { damaged, segment, parts, writeBoth, same } = await twoStores(t);
    for (const statement of SPOIL) await inFile(damaged.path, /^hot-/, statement);
    await damaged.start(SMALL);
    await writeBoth(parts[2] ?? []);
    await until('the segment is quarantined', () => damaged.statuses.at(-1)?.level === 'degraded');
    t.match(damaged.statuses.at(-1)?.message, `${basename(segment)} could not be compacted`);
    t.ok(
      damaged.settings.logger.lines.some((line) => line.includes(segment) && line.includes('quarantined')),
    );
    await damaged.store.settled();
    await same('while quarantined');

    damaged.statuses.length = 0;
    await damaged.reopen(SMALL);
    t.match(damaged.statuses, [{ level: 'degraded' }]);
    await same('after a start');
    await writeBoth(parts[3] ?? []);
    await damaged.store.settled();
    await same('after more writes');
    await damaged.reopen({ ...SMALL, compactionSettings: { retryMs: 1, lateEveryMs: 1 } });
    const tries = (): number =>
      damaged.settings.logger.lines.filter((line) => line.includes('still cannot be compacted')).length;
    const before = tries();
    await until('it is tried again', () => tries() > before + 2);
    await damaged.close();
    const hot = hotFilesOf(damaged.path);
    t.equal(hot[0], segment);
    t.ok(hot.length <= 3, 'all other segments were compacted');

    for (const statement of REMEDY) await inFile(damaged.path, /^hot-/, statement);
    damaged.statuses.length = 0;
    await damaged.start(SMALL);
    await damaged.store.settled();
    t.match(damaged.statuses, [{ level: 'degraded' }, { level: 'ok' }]);
    await same('after compaction');
    await damaged.reopen();
    await damaged.store.settled();
    await same('after the next start');
    t.notOk(existsSync(segment));
    await damaged.close();
    t.same(await duplicatesIn(damaged.path), []);
    t.same(await wrongSumsIn(damaged.path), []);
    for (const table of ['segments_aside', 'replaced_aside'])
      t.same(await inColdFile(damaged.path, `SELECT * FROM ${table}`), []);
  },
);

/** Kinds of damage between two starts, applied to a segment file. */
const DAMAGE: Readonly<Record<string, (segment: string) => Promise<void> | void>> = {
  'its log is overwritten in the middle': (segment) => {
    overwrite(`${segment}.wal`, Math.floor(statSync(`${segment}.wal`).size / 2));
  },
  'its log is garbage from the beginning': (segment) => {
    writeFileSync(`${segment}.wal`, Buffer.alloc(statSync(`${segment}.wal`).size, 0x41));
  },
  'an entry of its log is longer than the file': (segment) => {
    overwrite(`${segment}.wal`, middleEntry(`${segment}.wal`));
  },
  'its log is of another version': (segment) => {
    overwrite(`${segment}.wal`, 5, 1);
  },
  'its file is garbage': (segment) => {
    writeFileSync(segment, Buffer.alloc(40_000, 0x41));
  },
  'its tables are overwritten': async (segment) => {
    await inOneFile(segment, 'CHECKPOINT');
    const [place] = await inOneFile(
      segment,
      "SELECT max(block_id)::INTEGER AS block FROM pragma_storage_info('spans') WHERE persistent",
    );
    overwrite(segment, 3 * 4096 + Number(place?.block) * 256 * 1024 + 100);
  },
  'a table is missing': async (segment) => {
    await inOneFile(segment, 'DROP TABLE usage');
  },
};

/** Start of a middle entry: its first bytes are its length. DuckDB treats bytes after an excessive length as part of an unfinished commit. */
function middleEntry(log: string): number {
  const entries = entriesOf(log);
  return entries[Math.floor(entries.length / 2)]?.at ?? 0;
}

function overwrite(path: string, from: number, bytes = 64): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(bytes, 0x5a), 0, bytes, from);
  closeSync(file);
}

void t.test('quarantines damaged segments at startup and continues', async (t) => {
  const [opened, tenant] = await openWithUser(t);
  const [moved, hot] = [aTrace(1), aTrace(1)];
  await opened.store.writer.traces({ tenant, items: [moved] }, CONTEXT);
  await opened.reopen();
  await opened.store.writer.traces({ tenant, items: [hot] }, CONTEXT);
  await opened.store.settled();
  await opened.close();
  const [segment = '', ...empty] = hotFilesOf(opened.path);
  for (const file of empty) for (const part of [file, `${file}.wal`]) rmSync(part);
  // One copy per kind of damage; the equal contents do not matter.
  const segments = Object.keys(DAMAGE).map((_, i) => segment.replace(/\d+\.duckdb$/, `9${i}.duckdb`));
  for (const [i, damage] of Object.values(DAMAGE).entries()) {
    const copy = segments[i] ?? '';
    for (const end of ['', '.wal']) copyFileSync(`${segment}${end}`, `${copy}${end}`);
    await damage(copy);
  }
  for (const end of ['', '.wal']) rmSync(`${segment}${end}`);
  const content = segments.map(contentOf);
  // Removes the copied segments.
  await opened.start({ acceptsLoss: true });
  const { level, message } = opened.statuses.at(-1) ?? {};
  t.equal(level, 'degraded');
  for (const file of segments) t.match(message, `${basename(file)} is damaged`);
  const { items } = await opened.store.runs.list(tenant, {}, PAGE);
  t.match(items, [{ trace_id: moved.trace.trace_id }], 'data in other files is readable');
  await opened.store.writer.traces({ tenant, items: [aTrace(1)] }, CONTEXT);
  await opened.close();
  t.strictSame(segments.map(contentOf), content, 'their files stay unchanged');
});

void t.test('reads repaired segments again and compacts others meanwhile', async (t) => {
  const { damaged, tenant, ids, segment, writeBoth, same } = await twoStores(t);
  const files = [segment, `${segment}.wal`];
  for (const file of files) copyFileSync(file, `${file}.copy`);
  overwrite(`${segment}.wal`, middleEntry(`${segment}.wal`));
  const later = laterWorks();
  for (const start of ['the first start', 'the next one']) {
    damaged.statuses.length = 0;
    await damaged.reopen(SMALL);
    t.match(damaged.statuses, [{ level: 'degraded' }], start);
    t.equal(await damaged.store.runs.read(tenant, ids[5] ?? ''), null);
    for (const work of later.works.splice(0, 2)) await writeBoth([work]);
    await damaged.store.settled();
  }
  await damaged.close();
  t.ok(hotFilesOf(damaged.path).length <= 3, 'all other segments were compacted');

  for (const file of files) copyFileSync(`${file}.copy`, file);
  damaged.statuses.length = 0;
  await damaged.start(SMALL);
  await same('when it is sound', later.ids);
  await damaged.store.settled();
  t.match(damaged.statuses, [{ level: 'degraded' }, { level: 'ok' }]);
  await same('after compaction', later.ids);
  await damaged.close();
  t.same(await duplicatesIn(damaged.path), []);
  t.same(await wrongSumsIn(damaged.path), []);
});

function contentOf(segment: string): unknown {
  return [segment, `${segment}.wal`].map((file) => existsSync(file) && readFileSync(file).toString('hex'));
}

/** Writes with new agents, nodes, metrics and origins: none may reuse the number of an unreadable one. */
function laterWorks(): { readonly ids: readonly string[]; readonly works: Work[] } {
  const runs = [0, 1, 2, 3].map((n) => {
    const { trace } = aTrace(0, { agent: `later ${n}`, started_at: AT(100 + n) });
    const peer = { 'peer.service': `later service ${n}` };
    const span = aSpanRecord(trace.trace_id, { type: 'http', metadata: peer, started_at: AT(100 + n) });
    return { trace, spans: [span] };
  });
  return {
    ids: runs.map(({ trace }) => trace.trace_id),
    works: runs.map((run, n): Work => async ({ store }, tenant) => {
      const items = [run];
      await store.writer.traces({ tenant, items, quota: QUOTA, service_map: deriveBatch(items) }, CONTEXT);
      const point = aPoint({ stream: aMetric({ name: `later ${n}` }), timestamp: AT(100 + n) });
      await store.writer.metrics({ tenant, items: [point], quota: QUOTA }, CONTEXT);
    }),
  };
}
