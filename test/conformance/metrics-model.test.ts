import fc from 'fast-check';
import t, { type Test } from 'tap';
import { serializePoint } from '../../src/api/resources/metrics.js';
import type { MetricPoint } from '../../src/signal/metric.js';
import { formatTime } from '../../src/signal/time.js';
import { labelsText } from '../../src/storage/shared/labels.js';
import type { PointFilter } from '../../src/storage/contracts/metrics.js';
import { aMetric, aPoint } from '../support/metric-points.js';
import { neverDiffers, same } from '../support/property.js';
import { NOON } from '../support/run-records.js';
import { playSteps } from '../storage/duckdb/play-steps.js';
import { listOf } from '../support/read-pieces.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };

const NAMES = ['cpu.load', 'cpu.load.1', 'näh "\n'] as const;
/** Text that resembles stored labels or needs JSON escaping. */
const text = fc.constantFrom(
  '',
  'a',
  'b',
  '1',
  '"',
  ',',
  ':',
  '\\',
  '\n',
  '\0',
  '":"',
  '","a":"',
  '__proto__',
  'é😀',
);
const labels = fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true });
const time = fc.integer({ min: 0, max: 40 }).map((second) => NOON + second * 1_000_000);

interface Sent {
  readonly tenant: 0 | 1;
  readonly name: (typeof NAMES)[number];
  readonly labels: Record<string, string>;
  readonly timestamp: number;
}

const point: fc.Arbitrary<Sent> = fc.record({
  tenant: fc.constantFrom(0, 1),
  name: fc.constantFrom(...NAMES),
  labels,
  timestamp: time,
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(fc.array(point, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 3 }),
  },
  { weight: 1, arbitrary: fc.constantFrom('settle' as const, 'restart' as const, 'look' as const) },
);

const filter: fc.Arbitrary<PointFilter> = fc.record(
  { labels, start_time: time, end_time: time, limit: fc.integer({ min: 1, max: 30 }) },
  { requiredKeys: ['limit'] },
);

function checkMetrics(t: Test, open: OpenTelemetry): void {
  void t.test('point queries match a simple model wherever the points are stored', async (t) => {
    const opened = await open(t);
    await neverDiffers(
      t,
      { runs: 60, ms: 2000 },
      [fc.array(step, { minLength: 1, maxLength: 12 }), fc.array(filter, { minLength: 1, maxLength: 4 })],
      async (steps, filters) => {
        const tenants = [await opened.addUser(), await opened.addUser()] as const;
        const stored: Sent[] = [];
        const look = async (): Promise<void> => {
          await opened.caughtUp();
          for (const i of [0, 1] as const) {
            const own = stored.filter(({ tenant }) => tenant === i);
            await compare(opened, tenants[i], own, [{ limit: 10_000 }, ...filters]);
          }
        };
        await playSteps(opened, steps, {
          look,
          write: async (batches) => {
            await Promise.all(
              batches.flatMap((points) =>
                ([0, 1] as const).map((i) => {
                  const items = points.filter(({ tenant }) => tenant === i).map(toPoint);
                  return opened.store.writer.metrics({ tenant: tenants[i], items }, RECEIVED);
                }),
              ),
            );
            stored.push(...batches.flat());
          },
        });
        await look();
      },
    );
    t.same(opened.statuses, []);
  });
}

function toPoint({ name, labels, timestamp }: Sent): MetricPoint {
  return aPoint({ stream: aMetric({ name }), labels, timestamp, value: valueOf({ labels, timestamp }) });
}

/** Equal for equal labels and time, so that unordered points are identical. */
function valueOf({ labels, timestamp }: Pick<Sent, 'labels' | 'timestamp'>): number {
  return labelsText(labels).length + (timestamp % 1e9) / 1e6;
}

async function compare(
  { store }: OpenedTelemetry,
  tenant: string,
  stored: readonly Sent[],
  filters: readonly PointFilter[],
): Promise<void> {
  const listed = await store.metrics.list(tenant);
  const names = [...new Set(stored.map(({ name }) => name))].sort();
  same(
    listed.map(({ name, data_point_count }) => [name, data_point_count]),
    names.map((name) => [name, stored.filter((sent) => sent.name === name).length]),
  );
  for (const name of NAMES) {
    for (const asked of filters) {
      const found = await store.metrics.query(tenant, name, asked);
      const isKnown = names.includes(name);
      if (found === null || !isKnown) same(found === null, !isKnown);
      else {
        same(
          await listOf(found.points, serializePoint),
          expected(
            stored.filter((sent) => sent.name === name),
            asked,
          ),
        );
      }
    }
  }
}

function expected(stored: readonly Sent[], asked: PointFilter): object[] {
  const { labels = {}, start_time = -Infinity, end_time = Infinity, limit } = asked;
  return stored
    .filter(({ timestamp }) => timestamp >= start_time && timestamp <= end_time)
    .filter((sent) =>
      Object.entries(labels).every(
        ([key, value]) => Object.hasOwn(sent.labels, key) && sent.labels[key] === value,
      ),
    )
    .sort((a, b) => b.timestamp - a.timestamp || (labelsText(a.labels) < labelsText(b.labels) ? -1 : 1))
    .slice(0, limit)
    .map((sent) => ({
      timestamp: formatTime(sent.timestamp),
      value: valueOf(sent),
      labels: Object.fromEntries(Object.entries(sent.labels).sort(([a], [b]) => (a < b ? -1 : 1))),
    }));
}

await onEveryTelemetry(t, checkMetrics);
