import t from 'tap';
import {
  arrivalsLookedAt,
  lookedAt,
  MOST_ARRIVALS,
} from '../../../src/storage/clickhouse/alerts/evidence.js';
import { Observations } from '../../../src/storage/clickhouse/alerts/observations.js';
import { PastReads } from '../../../src/storage/clickhouse/alerts/past-stats.js';
import type { Reads } from '../../../src/storage/clickhouse/client/reads.js';

const SECOND = 1_000_000;
const NOW = 1_700_000_000 * SECOND;

void t.test('detects new points, including points that become visible late', async (t) => {
  const { evidence } = arrivalsLookedAt([NOW, NOW - 2 * SECOND, NOW - 20 * SECOND]);
  const isNew = (...arrivals: number[]) => arrivalsLookedAt(arrivals, [evidence]).isNew[0];
  t.equal(isNew(NOW, NOW - 2 * SECOND), false);
  t.equal(isNew(), false, 'removed points are not new');
  t.equal(isNew(NOW + 1, NOW), true);
  t.equal(isNew(NOW, NOW - SECOND), true, 'an insert that overlaps another one');
  t.equal(isNew(NOW, NOW - 20 * SECOND), false);
  t.equal(isNew(NOW, NOW - 15 * SECOND), false, 'too old to be new');
  t.same(arrivalsLookedAt([NOW], ['0', 'none of ours', '']).isNew, [true, true, true]);
  t.same(arrivalsLookedAt([], [arrivalsLookedAt([]).evidence]).isNew, [false]);
});

void t.test('limits the size of the evidence', async (t) => {
  const many = Array.from({ length: MOST_ARRIVALS }, (_, i) => NOW - i * 1000);
  const { evidence } = arrivalsLookedAt(many);
  t.ok(evidence.length < 1000);
  const isNew = (arrival: number) => arrivalsLookedAt([NOW, arrival], [evidence]).isNew[0];
  t.equal(isNew(NOW - 500), true);
  t.equal(isNew(NOW - MOST_ARRIVALS * 1000), false, 'arrivals beyond the limit count as seen');
});

void t.test('treats reapplied runs as new', async (t) => {
  t.same(lookedAt(5, ['4', '5', 'none of ours']), { evidence: '5', isNew: [true, false, true] });
});

void t.test('stops metric queries when a preview is aborted', async (t) => {
  const signals: (AbortSignal | undefined)[] = [];
  const reads: Reads = {
    rows: async (_sql, abort) => {
      signals.push(abort);
      return await Promise.resolve([]);
    },
    pages: () => {
      throw new Error('no list is read');
    },
  };
  const observations = new Observations({
    reads,
    names: { of: async () => await Promise.reject(new Error('no agent is read')) },
    findTenant: async () => await Promise.resolve(1),
    checkOpen: () => undefined,
  });
  const metrics = [{ userId: 'a', name: 'queue', service: null, since: [] }];
  const at = (now: number) => ({ now, windowStart: 0, pointsStart: 0, days: [], targets: [], metrics });
  const { signal } = new AbortController();
  await new PastReads(reads, observations).observe('a', [at(NOW), at(NOW + SECOND)], signal);
  t.strictSame(signals, [signal, signal]);
});
