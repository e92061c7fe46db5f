import t from 'tap';
import { uuidV7, uuidV7InOrder } from '../../../../src/signal/ids.js';
import { SEVERITIES, type LogRecord } from '../../../../src/signal/log-record.js';
import type { LogFilter, LogCursor } from '../../../../src/storage/contracts/logs.js';
import { logMatcher, textsOf } from '../../../../src/storage/shared/matches-log.js';
import { BlockCounts } from '../../../../src/storage/duckdb/index/block-counts.js';
import { LogsEncoder } from '../../../../src/storage/duckdb/write/encode-logs.js';
import { readLogFacets } from '../../../../src/storage/duckdb/read/log-facets.js';
import { aLog, fromService } from '../../../support/log-records.js';
import { NOON } from '../../../support/run-records.js';
import { EventEngine } from '../event-engine.js';
import { searchLogs } from '../log-search.js';
import { without } from '../shown-spans.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
const SECOND = 1_000_000;
const STRETCH = { start_time: NOON, end_time: NOON + 90 * SECOND };
/** Contains all blocks completely. */
const WHOLE = { start_time: NOON - SECOND, end_time: NOON + 200 * SECOND };
const INTERVAL = 10 * SECOND;
const BUCKETS = { interval: INTERVAL, ...STRETCH };
const TRACE = uuidV7(NOON / 1000);

/** Records of all severities and some services with overlapping, often equal times. */
function records(): LogRecord[] {
  return Array.from({ length: 600 }, (_, i) =>
    aLog({
      id: uuidV7InOrder(NOON / 1000, i),
      timestamp: NOON + ((i * 37) % 100) * SECOND,
      severity: SEVERITIES[i % 7 === 0 ? 4 : i % 6] ?? 'info',
      origin: fromService(['shop', 'mail', 'O\'Neil "&"'][i % 3] ?? ''),
      trace_id: i % 50 === 0 ? TRACE : null,
      body: `payment ${i % 4 === 0 ? 'declined by bank' : 'accepted'}, ${i % 5 === 0 ? 'bank declined' : 'über'} ${i}`,
    }),
  );
}

const FILTERS: readonly Omit<LogFilter, 'start_time' | 'end_time'>[] = [
  {},
  { severity: 'error' },
  { service_name: 'O\'Neil "&"' },
  { severity: 'warn', service_name: 'shop' },
  { query: 'payment' },
  { query: 'declined bank', severity: 'fatal' },
  { query: '"declined by bank"', service_name: 'mail' },
  { query: '"bank declined" "by bank"' },
  { query: 'ÜBER accepted' },
  { query: 'nowhere' },
  { trace_id: TRACE },
  { trace_id: TRACE, query: 'declined' },
];

/** The records that match a filter, by the rules for records not yet stored. */
function found(all: readonly LogRecord[], filter: LogFilter): LogRecord[] {
  const { fields, text } = logMatcher(filter);
  return all.filter((record) => fields(record) && (text === null || text(textsOf(record))));
}

void t.test(
  'facets match searches in hot segments and blocks, and pages continue after a cursor',
  async (t) => {
    for (const [rows, batches] of [
      [100_000, 1],
      [70, 30],
    ] as const) {
      const opened = await TestStore.open(t, { segmentSize: { rows, bytes: 1e9 } });
      const [tenant, other] = [await opened.addUser(), await opened.addUser()];
      const all = records();
      const size = all.length / batches;
      for (let from = 0; from < all.length; from += size) {
        const items = all.slice(from, from + size);
        await opened.store.writer.logs({ tenant, items }, RECEIVED);
        const others = items.map((item) => ({ ...item, id: uuidV7(NOON / 1000) }));
        await opened.store.writer.logs({ tenant: other, items: others }, RECEIVED);
      }
      for (const state of ['as it came', 'settled']) {
        if (state === 'settled') await opened.store.settled();
        for (const filter of FILTERS) {
          const name = `${JSON.stringify(filter)}, ${rows} rows a segment, ${state}`;
          const facets = await opened.store.logs.facets(tenant, filter, BUCKETS);
          t.strictSame(facets, model(all, filter), name);
          for (const time of ['first', 'second']) {
            const whole = await opened.store.logs.facets(tenant, filter, { interval: INTERVAL, ...WHOLE });
            t.strictSame(whole, model(all, filter, WHOLE), `${name}, of all times, the ${time} time`);
          }
          t.strictSame(await pages(opened, tenant, filter), idsOf(found(all, filter)), name);
        }
      }
    }
  },
);

function model(all: readonly LogRecord[], filter: LogFilter, stretch = STRETCH) {
  const matching = found(all, { ...filter, ...stretch });
  const buckets = new Map<number, { count: number; errors: number }>();
  for (const { timestamp, severity } of matching) {
    const start = timestamp - (timestamp % INTERVAL);
    const { count, errors } = buckets.get(start) ?? { count: 0, errors: 0 };
    const isError = severity === 'error' || severity === 'fatal';
    buckets.set(start, { count: count + 1, errors: errors + (isError ? 1 : 0) });
  }
  const services = new Map<string, number>();
  for (const { origin } of found(all, { ...without(filter, 'service_name'), ...stretch }))
    services.set(origin.serviceName, (services.get(origin.serviceName) ?? 0) + 1);
  const severe = found(all, { ...without(filter, 'severity'), ...stretch });
  return {
    count: matching.length,
    severities: new Map(
      SEVERITIES.map((name) => [name, severe.filter(({ severity }) => severity === name).length]),
    ),
    services: [...services]
      .map(([name, count]) => ({ name, count }))
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)),
    of_other_services: 0,
    buckets: [...buckets].map(([start, stats]) => ({ start, ...stats })).sort((a, b) => a.start - b.start),
    counted_after: null,
  };
}

function idsOf(logs: readonly LogRecord[]): string[] {
  return [...logs].sort((a, b) => b.timestamp - a.timestamp || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
}

/** The ids of all matches, page by page. */
async function pages({ store }: TestStore, tenant: string, filter: LogFilter): Promise<string[]> {
  const ids: string[] = [];
  let after: LogCursor | undefined;
  do {
    const page = { offset: 0, limit: 97, ...(after && { after }) };
    const { count, items } = await searchLogs({ logs: store.logs }, tenant, filter, page);
    const { next } = await store.logs.search(tenant, filter, page);
    ids.push(...items.map(({ id }) => id));
    if ((next === null) !== (count === items.length))
      throw new Error(`${count} are left, and no way to them`);
    after = next ?? undefined;
  } while (after !== undefined);
  return ids;
}

void t.test(
  'counts blocks once, including those with many services, and recounts changed ones',
  async (t) => {
    const opened = await TestStore.open(t, { segmentSize: { rows: 3000, bytes: 1e9 } });
    const tenant = await opened.addUser();
    const all: LogRecord[] = [];
    const write = async (count: number, services: number): Promise<void> => {
      const items = Array.from({ length: count }, (_, i) =>
        aLog({
          id: uuidV7InOrder(NOON / 1000, all.length + i),
          timestamp: NOON + (i % 90) * SECOND,
          severity: SEVERITIES[i % 6] ?? 'info',
          origin: fromService(`service ${i % services}`),
        }),
      );
      await opened.store.writer.logs({ tenant, items }, RECEIVED);
      all.push(...items);
      await opened.store.settled();
    };
    const same = async (name: string): Promise<void> => {
      const { services, ...facets } = await opened.store.logs.facets(
        tenant,
        {},
        { interval: INTERVAL, ...WHOLE },
      );
      const { services: expected, ...others } = model(all, {}, WHOLE);
      t.strictSame(facets.count, others.count, name);
      t.strictSame(facets.buckets, others.buckets, name);
      t.strictSame(services, expected.slice(0, services.length), name);
    };
    for (const [count, services] of [
      [3000, 2500],
      [3000, 3],
      [40, 3],
      [3000, 4],
    ] as const) {
      await write(count, services);
      await same(`${all.length} records`);
      await same(`${all.length} records, again`);
    }
  },
);

void t.test('counts only the newest blocks beyond the limit and reports it', async (t) => {
  const engine = await EventEngine.open(t, { segmentSize: { rows: 1000, bytes: 1e9 } });
  const { tenant } = await engine.addUser(null);
  const encoder = new LogsEncoder();
  // Each is over twice as large as the rest, so none are merged.
  const sizes = [2700, 900, 300, 100];
  let at = NOON;
  for (const size of sizes) {
    const items = Array.from({ length: size }, () => aLog({ id: uuidV7(NOON / 1000), timestamp: at++ }));
    await engine.parts.logs.write(engine.parts.writer, { ...encoder.encode({ items }, 0), tenant });
    await engine.settle();
  }
  const counted = async (mostRecords: number) =>
    await engine.read((connection, capture) =>
      connection.asOfNow(() =>
        readLogFacets(
          connection,
          { capture, counts: new BlockCounts(), tenant, mostRecords },
          {},
          { ...BUCKETS, end_time: at },
        ),
      ),
    );
  t.match(await counted(4000), { count: 4000, counted_after: null });
  const some = await counted(500);
  t.ok(some.count < 4000 && some.count > 0);
  t.equal(some.counted_after, at - 1 - some.count, 'the newest uncounted record');
});
