import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { hasDifferences } from '../../../../src/storage/contracts/service-map.js';
import type { RunSize } from '../../../../src/storage/duckdb/write/run-size.js';
import { IncomingBatch } from '../../../../src/storage/incoming/incoming-batch.js';
import { BAD, EventEngine, type Listener } from '../event-engine.js';
import { aSpanRecord, NOON } from '../../../support/run-records.js';
import { aFollowingRecord, parts } from '../following-records.js';
import { tracesMessage } from '../traces-message.js';

const SPANS = 30;
const MANY = { burst: 1e9, perSecond: 0 };
const SIZE = {
  few: 3,
  remembered: { running: 100, ended: 100 },
  reloads: {
    long: 10,
    followed: MANY,
    recomputed: MANY,
    loaded: MANY,
    atOnce: 1e6,
    truncatedAtOnce: 2 * SPANS,
    mostAtOnce: 1e6,
  },
} satisfies Partial<RunSize>;
const BIG_SEGMENTS = { rows: 1e6, bytes: 1e9 };

async function write(engine: EventEngine, { tenant }: Listener, items: TraceRecord[]): Promise<void> {
  const message = tracesMessage(tenant, { items, service_map: deriveBatch(items) }, NOON);
  await engine.parts.writer.write({ kind: 'batch', batch: new IncomingBatch(message) });
}

async function writeRuns(
  engine: EventEngine,
  user: Listener,
  count: number,
  spans: number,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  for (const id of ids) await write(engine, user, [parts(id, 0, spans)]);
  return ids;
}

/** Checks that the run shows what its spans give, or for a truncated run the spans it follows. */
async function isClosed(t: Test, engine: EventEngine, user: Listener, id: string, spans: number) {
  const trace = (await engine.parts.runs.read(engine.asking(user.tenant), id))?.value.trace;
  const followed = trace?.metadata?.['jackdaw.followed_spans'];
  t.match(trace, { span_count: spans, total_tokens: followed ?? spans });
  return followed !== undefined;
}

async function closedOf(t: Test, engine: EventEngine, user: Listener, ids: readonly string[], spans: number) {
  const closed: string[] = [];
  for (const id of ids) if (await isClosed(t, engine, user, id, spans)) closed.push(id);
  return closed;
}

async function hasSoundMap({ parts: { housekeeping } }: EventEngine): Promise<boolean> {
  const rebuilt = await housekeeping.rebuildMap(true);
  return rebuilt !== null && !hasDifferences(rebuilt);
}

function saysOf(engine: EventEngine, { tenant }: Listener, text: string): number {
  const names = (line: string): boolean => line.split(' ').includes(`tenant=${tenant}`);
  return engine.logger.lines.filter((line) => names(line) && line.includes(text)).length;
}

void t.test('loads few runs at a time for a batch of many long runs and keeps its data', async (t) => {
  const reloads = { ...SIZE.reloads, followed: { burst: SPANS + 5, perSecond: 0 }, atOnce: 2 * SPANS + 10 };
  const engine = await EventEngine.open(t, { runSize: { ...SIZE, reloads }, segmentSize: BIG_SEGMENTS });
  const [user, neighbour] = [await engine.addUser(null), await engine.addUser(null)];
  const ids = await writeRuns(engine, user, 12, SPANS);
  const others = await writeRuns(engine, neighbour, 2, SPANS);
  await engine.reopen();
  engine.reports.length = 0;
  const done: string[] = [];
  await Promise.all([
    write(
      engine,
      user,
      ids.map((id) => parts(id, SPANS, SPANS + 1)),
    ).then(() => done.push('user')),
    write(
      engine,
      neighbour,
      others.map((id) => parts(id, SPANS, SPANS + 1)),
    ).then(() => done.push('neighbour')),
  ]);
  t.same(done, ['neighbour', 'user']);
  // Ten are truncated early, two per commit, while the neighbor gets its turn; then the batch loads the rest.
  t.equal(engine.reports.length, 5 + 2);
  t.equal((await closedOf(t, engine, user, ids, SPANS + 1)).length, 10);
  t.same(await closedOf(t, engine, neighbour, others, SPANS + 1), []);
  t.ok(await hasSoundMap(engine));
  t.equal(engine.parts.truncatedRuns.count, 10);
  t.equal(saysOf(engine, user, 'max_run_spans'), 1, 'logged once, not per run');

  // They stay truncated: nothing is loaded for them.
  await engine.reopen();
  engine.reports.length = 0;
  await write(
    engine,
    user,
    ids.map((id) => parts(id, SPANS - 1, SPANS + 2)),
  );
  t.equal(engine.reports.length, 1);
  t.equal((await closedOf(t, engine, user, ids, SPANS + 2)).length, 10);
  t.ok(await hasSoundMap(engine));
});

void t.test('loads medium runs within an allowance and refuses the batch beyond it', async (t) => {
  const reloads = { ...SIZE.reloads, long: 1000, loaded: { burst: SPANS + 1, perSecond: 1e-9 } };
  const engine = await EventEngine.open(t, { runSize: { ...SIZE, reloads }, segmentSize: BIG_SEGMENTS });
  const [user, neighbour] = [await engine.addUser(null), await engine.addUser(null)];
  const ids = await writeRuns(engine, user, 4, SPANS);
  const [other = ''] = await writeRuns(engine, neighbour, 1, SPANS);
  const small = randomUUID();
  await write(engine, user, [parts(small, 0, 2)]);
  await engine.reopen();
  const more = (id: string): TraceRecord => parts(id, SPANS, SPANS + 1);
  const refused: string[] = [];
  for (const id of ids) {
    try {
      await write(engine, user, [more(id)]);
    } catch (error) {
      t.match(error, { code: 'overloaded', retryable: true, retryAfterMs: 60_000 });
      refused.push(id);
    }
  }
  t.same(refused, ids.slice(2), 'the second exceeds the allowance');
  await t.rejects(engine.setOutcome(user, ids[3] ?? '', true, 'done'), { code: 'overloaded' });
  t.equal(engine.parts.reloads.refused, 3);
  t.equal(saysOf(engine, user, 'Refusing writes'), 1);

  // Other users and short runs are not refused, even in the same commit.
  const inOneStep = await Promise.allSettled([
    write(engine, user, [parts(small, 2, 4)]),
    write(engine, user, refused.map(more)),
    write(engine, neighbour, [more(other)]),
    write(engine, user, [parts(randomUUID(), 0, SPANS)]),
  ]);
  t.same(
    inOneStep.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  t.equal(await isClosed(t, engine, neighbour, other, SPANS + 1), false);
  t.equal(await isClosed(t, engine, user, small, 4), false);

  // A later retry is accepted.
  await engine.reopen();
  await write(engine, user, refused.map(more));
  t.same(await closedOf(t, engine, user, ids, SPANS + 1), []);
  t.ok(await hasSoundMap(engine));
});

void t.test('accepts the other changes of a commit with refused changes', async (t) => {
  const reloads = { ...SIZE.reloads, loaded: { burst: 1, perSecond: 1e-9 } };
  const engine = await EventEngine.open(t, { runSize: { ...SIZE, reloads }, segmentSize: BIG_SEGMENTS });
  const user = await engine.addUser(null);
  const ids = await writeRuns(engine, user, 40, 4);
  await engine.reopen();
  await write(engine, user, [parts(ids[0] ?? '', 4, 5)]);
  const { segments, writer } = engine.parts;
  const before = segments.lastSeq;
  const touched = ids.slice(1);
  engine.reports.length = 0;
  const append = { ...BAD, rows: () => [] };
  const answers = await Promise.allSettled([
    writer.write({ kind: 'append', append }),
    // Two changes per run.
    ...[...touched, ...touched].map((id) => engine.setOutcome(user, id, true, 'done')),
    writer.write({ kind: 'append', append }),
  ]);
  t.same(
    answers.map(({ status }) => status),
    ['fulfilled', ...[...touched, ...touched].map(() => 'rejected'), 'fulfilled'],
  );
  t.equal(engine.parts.reloads.refused, 78);
  t.equal(engine.reports.length, 1);
  await write(engine, user, [parts(randomUUID(), 0, 1)]);
  t.equal(
    segments.lastSeq - before,
    3,
    'each attempt takes a commit number, and all refused changes shared one',
  );
});

void t.test('refuses repeated changes of long cached runs of a user', async (t) => {
  const reloads = { ...SIZE.reloads, recomputed: { burst: 2 * SPANS, perSecond: 1e-9 } };
  const runSize = { ...SIZE, remembered: { running: 1000, ended: 1000 }, reloads };
  const engine = await EventEngine.open(t, { runSize, segmentSize: BIG_SEGMENTS });
  const [user, neighbour] = [await engine.addUser(null), await engine.addUser(null)];
  const [id = ''] = await writeRuns(engine, user, 1, SPANS);
  const [other = ''] = await writeRuns(engine, neighbour, 1, SPANS);
  const more = (run: string, n: number): TraceRecord => parts(run, SPANS + n, SPANS + n + 1);
  await write(engine, user, [more(id, 0)]);
  await write(engine, user, [more(id, 1)]);
  await t.rejects(write(engine, user, [more(id, 2)]), { code: 'overloaded', retryable: true });
  await write(engine, user, [parts(randomUUID(), 0, SPANS)]);
  await write(engine, neighbour, [more(other, 0)]);
  t.equal(await isClosed(t, engine, user, id, SPANS + 2), false);
  t.equal(engine.parts.reloads.refused, 1);
  t.ok(await hasSoundMap(engine));
});

void t.test('keeps the error of a failed agent when a long run is reloaded', async (t) => {
  const engine = await EventEngine.open(t, { runSize: SIZE, segmentSize: BIG_SEGMENTS });
  const user = await engine.addUser(null);
  const id = randomUUID();
  const root = aSpanRecord(id, { parent_span_id: null, type: 'custom', run_kind: 'other' });
  const agent = aSpanRecord(id, {
    span_id: randomUUID(),
    parent_span_id: root.span_id,
    type: 'agent',
    status: 'failed',
    error_message: 'it broke',
    agent_hint: { source: 'agent span', name: 'a' },
  });
  await write(engine, user, [aFollowingRecord([root, agent])]);
  await write(engine, user, [parts(id, 0, SPANS)]);
  await engine.reopen();
  await write(engine, user, [parts(id, SPANS, SPANS + 1)]);
  t.match(await engine.shownRun(user, id), { status: 'failed', error_message: 'it broke' });
});
