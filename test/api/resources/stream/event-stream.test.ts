import { NO_DIMENSIONS } from '../../../../src/signal/run-context.js';
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { DaemonFeed } from '../../../../src/api/resources/stream/daemon-feed.js';
import { EventStream } from '../../../../src/api/resources/stream/event-stream.js';
import type { Inbox } from '../../../../src/api/resources/stream/inbox.js';
import { UserFeeds } from '../../../../src/api/resources/stream/feeds.js';
import { readTopics } from '../../../../src/api/resources/stream/topics.js';
import { ConsumeError } from '../../../../src/component/consume-error.js';
import { LocalChangeFeed } from '../../../../src/storage/shared/local-change-feed.js';
import type { Runs, RunSummary } from '../../../../src/storage/contracts/runs.js';
import { HandClock } from '../../../support/hand-clock.js';
import { until } from '../../../support/until.js';

const USER = '00000000-0000-4000-8000-00000000000a';

function summary(trace_id: string): RunSummary {
  return {
    trace_id,
    agent_id: USER,
    agent_name: 'a',
    kind: 'agent',
    session_id: null,
    user_id: null,
    tags: [],
    ...NO_DIMENSIONS,
    status: 'completed',
    started_at: 0,
    ended_at: null,
    duration_ms: null,
    success: null,
    outcome: null,
    error_message: null,
    total_tokens: null,
    total_cost_usd: null,
    sample_rate: null,
    span_count: 0,
  };
}

/** A stream with a stopped clock and a store that knows every run. */
function open(topics: string, isFailing: () => boolean = () => false) {
  const clock = new HandClock();
  const arrivals = new LocalChangeFeed();
  const desk = new UserFeeds(arrivals, clock);
  const asked: number[] = [];
  const runs: Pick<Runs, 'find' | 'scores' | 'traceSummary'> = {
    async *find(_, ids) {
      if (isFailing()) throw new ConsumeError('not now', { code: 'storage_unavailable', retryable: true });
      asked.push(ids.length);
      yield await Promise.resolve(ids.map(summary));
    },
    traceSummary: async () => await Promise.resolve(null),
    scores: async () => await Promise.resolve([]),
  };
  const gone = new AbortController();
  const draining = new AbortController();
  let isAllowed = true;
  const stream = new EventStream({
    userId: USER,
    topics: readTopics(topics),
    runFilter: {},
    logFilter: {},
    after: null,
    missed: [],
    era: desk.era,
    seat: desk.take(USER),
    runs,
    inboxes: [],
    isAllowed: () => isAllowed,
    gone: gone.signal,
    draining: draining.signal,
    clock,
  });
  const pieces = stream[Symbol.asyncIterator]();
  /** The next chunk, while time advances. */
  const next = async (): Promise<string | null> => {
    let piece: string | null | undefined;
    void pieces.next().then(({ value, done }) => {
      piece = done === true ? null : Buffer.from(value).toString();
    });
    await until('a piece comes', () => {
      if (piece === undefined) clock.advance(250);
      return piece !== undefined;
    });
    return piece ?? null;
  };
  const write = (count: number): void => {
    for (let i = 0; i < count; i += 1) arrivals.traceChanged(USER, randomUUID());
  };
  const revoke = (): void => {
    isAllowed = false;
  };
  return { clock, arrivals, desk, asked, next, write, gone, draining, revoke, pieces };
}

void t.test('an idle stream sends heartbeats', async (t) => {
  const { next, clock } = open('runs');
  t.match(await next(), /event: open/);
  for (let beat = 0; beat < 3; beat += 1) {
    const before = clock.now();
    t.equal(await next(), ':\n\n');
    t.ok((clock.now() - before) / 1e6 <= 7, 'within seven seconds');
  }
});

void t.test('a slow reader is sent the number of missed events, and memory stays bounded', async (t) => {
  const { next, write, asked } = open('runs');
  await next();
  write(2500);
  t.match(await next(), 'event: lost\ndata: {"topic":"runs","count":500}');
  let runs = 0;
  while (runs < 2000) runs += ((await next()) ?? '').split('event: run').length - 1;
  t.equal(runs, 2000);
  t.ok(Math.max(...asked) <= 200, 'in batches');
  write(1);
  let piece = await next();
  while (piece !== null && !piece.includes('event: run')) piece = await next();
  t.equal(piece?.split('event: run').length, 2);
});

void t.test('loses nothing while the store cannot be read', async (t) => {
  let isFailing = true;
  const { next, write } = open('runs', () => isFailing);
  await next();
  write(3);
  t.equal(await next(), ':\n\n', 'only a heartbeat');
  isFailing = false;
  t.equal((await next())?.split('event: run').length, 4);
});

void t.test('a stream ends with its key, listener and reader, and frees its slot', async (t) => {
  const revoked = open('runs');
  await revoked.next();
  revoked.revoke();
  t.equal(await revoked.next(), 'event: bye\ndata: {"reason":"signed_out"}\n\n');
  t.equal(await revoked.next(), null);

  const drained = open('runs');
  await drained.next();
  drained.draining.abort();
  t.equal(await drained.next(), 'event: bye\ndata: {"reason":"shutting_down"}\n\n');
  t.equal(await drained.next(), null);

  const left = open('runs');
  await left.next();
  left.gone.abort();
  t.equal(await left.next(), null);
  t.equal(left.clock.pending, 1, 'waits only for the feed to stop');

  const unread = open('runs');
  await unread.pieces.return?.();
  for (const { desk } of [revoked, drained, left, unread]) {
    const seats = Array.from({ length: 8 }, () => desk.take(USER));
    t.throws(() => desk.take(USER), /can have 8 event streams/);
    t.equal(desk.take('another').feed.readers, 0, 'others have separate slots');
    for (const seat of seats) seat.leave();
  }
});

void t.test('the feed stops a minute after the last stream', async (t) => {
  const { arrivals, desk, clock, gone, next, write } = open('runs');
  await next();
  gone.abort();
  await next();
  write(1);
  const again = desk.take(USER);
  t.equal(again.feed.since(0).length, 1, 'arrived meanwhile');
  again.leave();
  clock.advance(60_000);
  const batch = { tenant: USER, items: [] };
  t.equal(
    arrivals.tracesOf(batch.tenant, () => []),
    undefined,
    'writes publish nothing',
  );
  t.equal(arrivals.logsOf(batch.tenant, []), undefined);
});

void t.test('reads the daemon once for all listeners, and a slow one gets the newest state', async (t) => {
  const clock = new HandClock();
  let readings = 0;
  const changes = new DaemonFeed(() => `{"reading":${String((readings += 1))}}`, clock);
  t.equal(clock.pending, 0, 'no listeners');
  let wakes = 0;
  const wake = (): void => {
    wakes += 1;
  };
  const texts = (inbox: Inbox): string[] => inbox.take().map((event) => Buffer.from(event).toString());
  const slow = changes.inbox(wake);
  const quick = changes.inbox(wake);
  t.match(texts(quick), ['event: edges\ndata: {"reading":2}\n\n'], 'immediately');
  clock.advance(2000);
  t.match([readings, wakes], [3, 2]);
  t.match(texts(quick), [/"reading":3/]);
  clock.advance(4000);
  t.match(texts(slow), [/"reading":5/], 'one of five');
  t.same(texts(slow), []);
  slow.close();
  quick.close();
  t.equal(clock.pending, 0);
  t.equal(readings, 5);
});
