import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { RunStatus } from '../../../src/signal/span.js';
import { emitApplied, type WantedOfTenant } from '../../../src/storage/clickhouse/runs/applied-events.js';
import type { AppliedRun } from '../../../src/storage/clickhouse/runs/apply-runs.js';
import { deriveRun } from '../../../src/storage/clickhouse/runs/derive-run.js';
import { orderOf } from '../../../src/storage/clickhouse/runs/message-order.js';
import { earlierThan } from '../../../src/storage/clickhouse/runs/new-items.js';
import { NodeNumbers } from '../../../src/storage/clickhouse/runs/node-names.js';
import type { StoredMessage } from '../../../src/storage/clickhouse/runs/run-facts.js';
import { isEmitted as isEmittedBefore } from '../../../src/storage/clickhouse/runs/apply-runs.js';
import { subjectOf } from '../../../src/storage/contracts/events.js';
import { openControlStore } from '../../support/control-store.js';
import { NOON } from '../../support/run-records.js';
import { headerRow } from '../duckdb/incoming-records.js';

/** The write being applied. */
const [OWN, FENCE] = [9, 50];

function header(write: number, status: RunStatus): StoredMessage {
  const named = headerRow({ status });
  return {
    kind: 'header',
    order: orderOf(write, 0),
    receivedAt: NOON,
    named,
    isMapped: false,
    spans: 0,
    hours: [],
  };
}

/** @param firstFences first fences of the other writes; absent for writes that ended long ago */
function isEmitted(
  messages: readonly StoredMessage[],
  firstFences: Readonly<Record<number, number | null>>,
): boolean {
  const others = new Map(Object.entries(firstFences).map(([write, fence]) => [Number(write), fence]));
  const facts = {
    tenant: 1,
    traceId: 'a',
    spans: [],
    wholes: new Map(),
    messages: [...messages, header(OWN, 'completed')],
  };
  return isEmittedBefore(facts, ({ hasEnded }) => hasEnded, {
    write: OWN,
    isEarlier: earlierThan(OWN, FENCE, others),
    firstFences: others,
  });
}

void t.test('the first writer that sees the end emits it', async (t) => {
  t.equal(isEmitted([], {}), false);
  t.equal(isEmitted([header(1, 'running')], { 1: 10 }), false);
  t.equal(isEmitted([header(1, 'completed')], { 1: 10 }), true, 'an earlier write emitted it');
  t.equal(isEmitted([header(1, 'completed')], { 1: 60 }), false, 'the other write is later');
});

void t.test('with concurrent writes, each writer that sees the end emits it', async (t) => {
  const both = [header(1, 'completed'), header(2, 'running')];
  // With the second write the run may still be running, in which case the first writer emitted nothing.
  t.equal(isEmitted(both, { 1: 10, 2: 60 }), false, 'the second write is later');
  t.equal(isEmitted(both, { 1: 10, 2: null }), false, 'the second write has no fence yet');
  t.equal(isEmitted(both, { 2: 60 }), true, 'writes older than the log are assumed applied');
});

function endedRun(traceId: string, status: RunStatus): AppliedRun {
  const message = { ...header(OWN, status), named: headerRow({ trace_id: traceId, status }) };
  const facts = { tenant: 1, traceId, spans: [], wholes: new Map(), messages: [message as StoredMessage] };
  const derived = deriveRun(facts, new NodeNumbers());
  if (derived === null) throw new Error('a run without a header');
  const agent = { tenant: 1, number: 1, id: randomUUID(), name: 'agent', created_at: null };
  return { derived, agent, endsNow: true };
}

void t.test(
  'an end is not emitted after the failure of its run, which a concurrent writer emitted',
  async (t) => {
    const { events } = await openControlStore(t);
    const start = await events.open('test');
    const [one, other, userId] = [randomUUID(), randomUUID(), randomUUID()];
    const wantedOf = async (): Promise<WantedOfTenant> => ({
      userId,
      wanted: ['trace.completed', 'trace.failed', 'trace.timed_out'],
    });
    for (const [traceId, status] of [
      [one, 'failed'],
      [one, 'completed'],
      [one, 'timed_out'],
      [other, 'completed'],
      [other, 'failed'],
      [other, 'timed_out'],
    ] as const)
      await emitApplied({ runs: [endedRun(traceId, status)] }, events, wantedOf);
    const page = await events.read(start, { events: 100, bytes: 1e9 });
    t.same(
      page.events.map(({ event: { type, body } }) => [type, subjectOf(type, body)?.id]),
      [
        ['trace.failed', one],
        ['trace.completed', other],
        ['trace.failed', other],
      ],
    );
  },
);
