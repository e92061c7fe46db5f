import t, { type Test } from 'tap';
import { ConsumeError } from '../../../src/component/consume-error.js';
import type { Status } from '../../../src/component/status.js';
import type { Host } from '../../../src/component/host.js';
import { outboxConfig } from '../../../src/receivers/outbox/config.js';
import { outboxReceiver } from '../../../src/receivers/outbox/factory.js';
import type { Batch } from '../../../src/signal/batch.js';
import type { EventRecord } from '../../../src/signal/event.js';
import { componentSettings } from '../../support/component-settings.js';
import { metricValues } from '../../support/engine.js';
import { ScriptedExporter } from '../../support/scripted-exporter.js';
import { sectionConfig } from '../../support/section-config.js';
import { WatchedLog } from './watched-log.js';

const busy = (retryAfterMs?: number) =>
  new ConsumeError('busy', {
    code: 'overloaded',
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
const broken = () => new ConsumeError('the disk is full', { code: 'storage_unavailable', retryable: true });

/** Short enough for the receiver to renew its lease in time. */
const STEP_MS = 5000;
const LEASE = 'outbox outbox/test';

/** Lets settled promises continue, also in sequence. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 4; turns++) await new Promise((resolve) => setImmediate(resolve));
}

/** A started receiver over a real log, with a pipeline controlled by the test. */
async function startOutbox(t: Test, yaml = '', known?: WatchedLog) {
  const store = known ?? (await WatchedLog.open(t));
  const { clock } = store;
  const settings = { ...componentSettings('outbox/test'), clock };
  const exporter = new ScriptedExporter();
  const statuses: Status[] = [];
  const host: Pick<Host, 'extension' | 'reportStatus'> = {
    extension: (id, isWanted) => {
      const { control } = store;
      if (id !== 'sqlite' || !isWanted(control)) throw new Error(`${id} is no control plane`);
      return control;
    },
    reportStatus: (status) => {
      statuses.push(status);
    },
  };
  const config = sectionConfig(outboxConfig, yaml);
  const receiver = outboxReceiver.create({ ...settings, config, outputs: { events: exporter } });
  store.ends.push(async () => receiver.shutdown?.(AbortSignal.abort()));
  await receiver.start?.(host as Host);
  await settled();
  return {
    ...settings,
    exporter,
    statuses,
    store,
    /** Owner and event ids of each attempt. */
    handed: () => exporter.attempts.map(({ batch }) => summary(batch)),
    succeed: async () => {
      exporter.last.succeed();
      await settled();
    },
    fail: async (error: unknown) => {
      exporter.last.fail(error);
      await settled();
    },
    advance: async (ms: number) => {
      for (let left = ms; left > 0; left -= STEP_MS) {
        clock.advance(Math.min(left, STEP_MS));
        await settled();
      }
    },
    progress: () => store.progress('outbox/test'),
    metric: (name: string) => metricValues(settings.meter, `jackdaw_outbox_${name}{`),
    stop: async (deadline = new AbortController().signal) => receiver.shutdown?.(deadline),
  };
}

function summary({ tenant, items }: Batch<unknown>): string {
  return `${tenant}: ${items.map((item) => (item as EventRecord).id).join(' ')}`;
}

void t.test('emits events by owner, in order, and saves the position', async (t) => {
  const { store, handed, succeed, progress, exporter } = await startOutbox(t, "types: ['trace.failed', '*']");
  t.strictSame(await store.wanted(), new Set(['*', 'trace.failed']));
  t.equal(await progress(), 0, 'saved at the start');
  await store.commit({ tenant: 'ann' }, { tenant: 'bob' }, { tenant: 'ann' }, { tenant: 'ann' });
  await settled();
  t.strictSame(handed(), ['ann: e1 e3 e4'], 'one batch at a time');
  await succeed();
  t.strictSame(handed(), ['ann: e1 e3 e4', 'bob: e2']);
  t.equal(await progress(), 0, 'only when the whole page is accepted');
  await succeed();
  t.equal(await progress(), 4);
  t.match(exporter.last.batch.items[0], { id: 'e2', body: /"type":"trace\.failed"/ });
});

void t.test('a reader resumes at its position', async (t) => {
  const store = await WatchedLog.open(t);
  await store.commit({}, {});
  const first = await startOutbox(t, '', store);
  t.strictSame(first.handed(), [], 'a new reader starts now');
  await first.stop();
  await store.commit({});
  const second = await startOutbox(t, '', store);
  t.strictSame(second.handed(), ['a-user: e3']);
});

void t.test('reads large outboxes page by page', async (t) => {
  const store = await WatchedLog.open(t);
  await store.open('outbox/test');
  await store.commit({}, {}, {}, {}, {});
  const { handed, succeed, progress, advance } = await startOutbox(t, 'max_batch_size: 2', store);
  t.match(store.reads[0]?.limit, { events: 2, bytes: 4 * 1024 * 1024 });
  await succeed();
  t.equal(await progress(), 2);
  await succeed();
  await succeed();
  t.strictSame(handed(), ['a-user: e1 e2', 'a-user: e3 e4', 'a-user: e5']);
  await advance(250);
  t.equal(await progress(), 5);
  t.strictSame(
    store.reads.map(({ after }) => after),
    [0, 2, 4, 5],
    'each once, including the last',
  );
});

void t.test('waits for hints and also polls, as a hint may be lost', async (t) => {
  const { store, advance, handed, succeed, progress } = await startOutbox(t);
  t.equal(store.reads.length, 1);
  await advance(9999);
  t.equal(store.reads.length, 1);
  await advance(1);
  t.equal(store.reads.length, 2);
  await store.commit({});
  await settled();
  t.equal(store.reads.length, 3, 'the next read is immediate');
  // During a page: read ahead and emitted after it.
  await store.commit({});
  await settled();
  t.equal(store.reads.length, 3);
  t.strictSame(handed(), ['a-user: e1']);
  await succeed();
  t.strictSame(handed(), ['a-user: e1', 'a-user: e2']);
  await succeed();
  await advance(250);
  t.equal(await progress(), 2);
});

void t.test('failed events are retried forever, accepted ones are not', async (t) => {
  const { store, handed, succeed, fail, advance, progress, statuses, logger } = await startOutbox(
    t,
    'retry: { initial_interval: 1s, max_interval: 10s }',
  );
  await store.commit({ tenant: 'ann' }, { tenant: 'bob' }, { tenant: 'cleo' });
  await settled();
  await succeed();
  for (let failures = 1; failures <= 12; failures++) {
    await fail(failures % 2 === 0 ? busy() : new TypeError('x is undefined'));
    await advance(499);
    t.equal(handed().length, failures + 1, 'waits');
    await store.commit({ tenant: 'dora' });
    await settled();
    t.equal(handed().length, failures + 1, 'new events do not shorten the wait');
    await advance(15_000);
    t.equal(handed().length, failures + 2, 'continues');
  }
  t.strictSame(new Set(handed().slice(1)), new Set(['bob: e2']));
  t.equal(await progress(), 0);
  await succeed();
  await succeed();
  t.equal(await progress(), 3);
  t.equal(handed().at(-1), 'dora: e4', 'read ahead');
  await succeed();
  t.match(handed().at(-1), /^dora: e5 .* e15$/);
  t.strictSame(statuses, [], 'an exporter failure is not a fault of the receiver');
  t.match(logger.lines[0], /^warn Could not pass on events; retrying err=x is undefined wait_ms=/);
  t.notMatch(logger.lines.join(), 'passed over');
});

void t.test('waits as long as the other side asks', async (t) => {
  const { store, handed, fail, advance } = await startOutbox(t);
  await store.commit({});
  await settled();
  await fail(busy(90_000));
  await advance(89_999);
  t.equal(handed().length, 1);
  await advance(1);
  t.equal(handed().length, 2);
});

void t.test('permanently refused events are skipped, logged and counted', async (t) => {
  const { store, handed, succeed, fail, progress, logger, metric } = await startOutbox(t);
  await store.commit({ tenant: 'ann' }, { tenant: 'ann', type: 'agent.created' }, { tenant: 'bob' });
  await settled();
  t.strictSame(Object.values(await metric('passed_over_events_total')), [0, 0], 'present from the start');
  await fail(new ConsumeError('no such shape', { code: 'validation_failed', retryable: false }));
  await succeed();
  t.strictSame(handed(), ['ann: e1 e2', 'bob: e3']);
  t.equal(await progress(), 3);
  t.strictSame(logger.lines, [
    'error Skipped events that were permanently refused; see the error and the log of the pipeline err=no such shape ' +
      'tenant="ann" events=["e1","e2"] types=["trace.failed","agent.created"]',
  ]);
  t.match(await metric('passed_over_events_total'), {
    'jackdaw_outbox_passed_over_events_total{receiver="outbox/test",reason="permanent"}': 2,
    'jackdaw_outbox_passed_over_events_total{receiver="outbox/test",reason="refused"}': 0,
  });
});

void t.test('single refused events are also skipped', async (t) => {
  const { store, exporter, progress, logger, metric } = await startOutbox(t);
  await store.commit({}, { type: 'prompt.created' }, {});
  await settled();
  exporter.last.answer({ accepted: 2, refused: [{ index: 1, reason: '/body: too long' }] });
  await settled();
  t.equal(await progress(), 3);
  t.strictSame(logger.lines, [
    'warn Skipped refused events tenant="a-user" events=["e2"] types=["prompt.created"] ' +
      'reasons=["/body: too long"]',
  ]);
  t.match(await metric('passed_over_events_total'), {
    'jackdaw_outbox_passed_over_events_total{receiver="outbox/test",reason="refused"}': 1,
  });
});

void t.test('retries an unreadable store and reports it', async (t) => {
  const store = await WatchedLog.open(t);
  store.faults.read.push(broken(), new Error('a fault'));
  const { handed, advance, statuses, succeed } = await startOutbox(t, '', store);
  t.match(statuses, [{ level: 'recoverable', message: /Cannot read events from the control store/ }]);
  await advance(1500);
  t.equal(statuses.length, 1, 'logged once');
  await advance(2250);
  t.match(statuses, [{ level: 'recoverable' }, { level: 'ok' }], 'before anything can be read');
  await store.commit({});
  await settled();
  t.strictSame(handed(), ['a-user: e1']);
  store.faults.read.push(broken());
  await store.commit({});
  await succeed();
  await succeed();
  t.strictSame(handed(), ['a-user: e1', 'a-user: e2'], 'events already read are emitted');
  t.equal(statuses.length, 3);
  await advance(1500);
  t.match(statuses.at(-1), { level: 'ok' });
});

void t.test('retries a failed position write without emitting twice', async (t) => {
  const { store, handed, succeed, advance, statuses, progress } = await startOutbox(t);
  store.faults.progress.push(broken(), broken());
  await store.commit({});
  await settled();
  await succeed();
  await store.commit({});
  await settled();
  t.match(statuses, [{ level: 'degraded', message: /Cannot store the position/ }]);
  await advance(1500);
  await advance(2250);
  t.equal(await progress(), 1);
  t.strictSame(handed(), ['a-user: e1', 'a-user: e2']);
  t.match(statuses, [{ level: 'degraded' }, { level: 'ok' }]);
});

void t.test('saves the position immediately, then at most four times a second', async (t) => {
  const { store, handed, succeed, advance, progress, stop } = await startOutbox(t, 'max_batch_size: 1');
  const events = 12;
  await store.commit(...Array.from({ length: events }, () => ({})));
  await settled();
  for (let taken = 0; taken < events; taken++) {
    await succeed();
    await advance(50);
    await advance(50);
  }
  // A page is accepted every 100 milliseconds.
  t.strictSame(store.notes, [1, 3, 5, 8, 10], 'always the newest');
  await advance(50);
  t.equal(await progress(), events);
  await advance(600_000);
  t.equal(store.notes.length, 6, 'nothing saved twice');
  await store.commit({}, {});
  await settled();
  await succeed();
  t.equal(await progress(), events + 1, 'immediately again');
  await succeed();
  t.equal(await progress(), events + 1);
  await stop();
  t.equal(await progress(), events + 2, 'a stop does not wait');
  t.equal(handed().length, events + 2);
});

void t.test('writes one position at a time', async (t) => {
  const { store, succeed, advance, progress, stop } = await startOutbox(t, 'max_batch_size: 1');
  const release = store.holdNotes();
  await store.commit({}, {}, {}, {});
  await settled();
  await succeed();
  await advance(1000);
  await succeed();
  await succeed();
  await advance(1000);
  t.strictSame(store.notes, [1]);
  t.equal(await progress(), 0);
  release();
  await settled();
  t.strictSame(store.notes, [1, 3], 'immediate: the last one started long ago');
  t.equal(await progress(), 3);

  const releaseLast = store.holdNotes();
  await succeed();
  await advance(250);
  t.strictSame(store.notes, [1, 3, 4]);
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  await settled();
  t.notOk(isStopped, 'a stop waits for the pending write');
  releaseLast();
  await stopped;
  t.equal(await progress(), 4);
});

void t.test('a stop saves progress up to the current page', async (t) => {
  const { store, succeed, progress, stop } = await startOutbox(t, 'max_batch_size: 1');
  await store.commit({}, {}, {});
  await settled();
  await succeed();
  await succeed();
  t.equal(await progress(), 1);
  const deadline = new AbortController();
  const stopped = stop(deadline.signal);
  await settled();
  t.equal(await progress(), 2, 'whether or not it is accepted');
  deadline.abort();
  await stopped;
});

void t.test('continues while the position cannot be saved', async (t) => {
  const { store, handed, succeed, advance, progress, logger, stop } = await startOutbox(
    t,
    'max_batch_size: 1',
  );
  store.faults.progress.push(broken(), broken(), broken());
  await store.commit({}, {}, {});
  await settled();
  await succeed();
  await succeed();
  t.strictSame(handed(), ['a-user: e1', 'a-user: e2', 'a-user: e3']);
  t.equal(await progress(), 0);
  await advance(1500);
  await advance(2250);
  t.equal(await progress(), 0);
  await advance(3375);
  t.strictSame(store.notes, [1, 2, 2, 2], 'each attempt uses the newest position');
  t.equal(await progress(), 2);
  t.match(logger.lines, [/^warn Could not store the position; retrying err=the disk is full wait_ms=/]);
  store.faults.progress.push(broken());
  await advance(10_000);
  const stopped = stop();
  await succeed();
  await stopped;
  t.equal(await progress(), 2, 'a stop waits for no second attempt');
  t.match(
    logger.lines.at(-1),
    /^warn Could not store the position; processed events are sent again after the/,
  );
});

void t.test('a stop finishes the current page and reads no further', async (t) => {
  const { store, handed, succeed, progress, stop } = await startOutbox(t, 'max_batch_size: 2');
  await store.commit({ tenant: 'ann' }, { tenant: 'bob' }, { tenant: 'ann' });
  await settled();
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  await settled();
  await succeed();
  t.notOk(isStopped);
  await succeed();
  await stopped;
  t.strictSame(handed(), ['ann: e1', 'bob: e2']);
  t.equal(await progress(), 2);
  await stop();
  await store.commit({});
  await settled();
  t.equal(handed().length, 2);
});

void t.test('a stop does not wait for another attempt', async (t) => {
  const waiting = await startOutbox(t);
  await waiting.store.commit({});
  await settled();
  await waiting.fail(busy());
  await waiting.stop();
  t.equal(waiting.handed().length, 1);
  t.equal(await waiting.progress(), 0);
});

void t.test('a stop during an attempt does not wait for another', async (t) => {
  const failing = await startOutbox(t);
  await failing.store.commit({});
  await settled();
  const stopped = failing.stop();
  await failing.fail(busy());
  await stopped;
  t.equal(failing.handed().length, 1);
  t.match(failing.logger.lines, [
    /^warn Could not pass on events before stopping; they are sent after the next start err=busy/,
  ]);
});

void t.test('at the stop deadline the current batch is aborted', async (t) => {
  const { store, exporter, handed, succeed, progress, stop } = await startOutbox(t);
  await store.commit({ tenant: 'ann' }, { tenant: 'bob' });
  await settled();
  const deadline = new AbortController();
  const stopped = stop(deadline.signal);
  await settled();
  t.notOk(exporter.last.context.abort?.aborted);
  deadline.abort();
  await stopped;
  t.ok(exporter.last.context.abort?.aborted);
  // The late response must not start anything else.
  await succeed();
  t.strictSame(handed(), ['ann: e1']);
  t.equal(await progress(), 0);
  await stop();
});

void t.test('reports the age of waiting events', async (t) => {
  const { store, clock, advance, succeed, metric, stop } = await startOutbox(t);
  const lag = async () => Object.values(await metric('lag_seconds'));
  t.strictSame(await lag(), [0]);
  await store.commit({ at: clock.now() }, { at: clock.now() - 2_000_000 });
  await settled();
  await advance(1000);
  t.strictSame(await lag(), [3]);
  await succeed();
  t.strictSame(await lag(), [0]);
  await stop();
  t.strictSame(await lag(), []);
});

void t.test('of two processes one emits, and the other after it stops', async (t) => {
  const first = await startOutbox(t);
  const { store } = first;
  const second = await startOutbox(t, '', store);
  await store.commit({});
  await settled();
  t.strictSame([first.handed(), second.handed()], [['a-user: e1'], []]);
  await first.succeed();
  await second.advance(60_000);
  await store.commit({});
  await settled();
  t.strictSame([first.handed().length, second.handed().length], [2, 0], 'the lease is renewed');
  await first.succeed();
  await first.stop();
  await store.commit({});
  await second.advance(5000);
  t.strictSame(second.handed(), ['a-user: e3'], 'from the position of the other');
});

void t.test('another process continues after the lease of a dead one', async (t) => {
  const store = await WatchedLog.open(t);
  await store.takeLease(LEASE, 15_000);
  const { handed, advance } = await startOutbox(t, '', store);
  await store.commit({});
  await advance(10_000);
  t.strictSame(handed(), []);
  await advance(5000);
  t.strictSame(handed(), ['a-user: e1']);
});

void t.test('on a lost lease aborts, saves nothing and waits for its turn', async (t) => {
  const { store, exporter, handed, advance, succeed, progress, logger, stop } = await startOutbox(t);
  await store.commit({ tenant: 'ann' }, { tenant: 'bob' });
  await settled();
  // As after a long suspend: the lease was not renewed in time.
  store.clock.advance(15_000);
  const taken = await store.takeLease(LEASE, 60_000);
  t.ok(taken);
  await settled();
  t.ok(exporter.last.context.abort?.aborted);
  await succeed();
  t.strictSame(handed(), ['ann: e1'], 'the rest of the page belongs to the other');
  t.equal(await progress(), 0);
  t.match(logger.lines, [/^warn This daemon no longer passes on events: lost the lease lease=/]);
  await advance(50_000);
  t.equal(handed().length, 1);
  if (taken) await store.releaseLease(taken);
  await advance(5000);
  t.strictSame(handed(), ['ann: e1', 'ann: e1']);
  await succeed();
  await succeed();
  t.equal(await progress(), 2);
  await stop();
});

void t.test('saving progress detects a lost lease', async (t) => {
  const { store, exporter, handed, advance, succeed, progress } = await startOutbox(t, 'max_batch_size: 1');
  const owner = await store.takeLease('outbox another', 1000);
  t.ok(owner, 'another reader has a separate lease');
  await store.commit({}, {}, {});
  await settled();
  await store.steal(LEASE);
  await succeed();
  t.equal(await progress(), 0);
  await settled();
  await advance(5000);
  t.equal(handed().length, 2, 'the page read ahead had started');
  t.ok(exporter.last.context.abort?.aborted, 'and is aborted');
});

void t.test('retries a failed lease request', async (t) => {
  const store = await WatchedLog.open(t);
  store.faults.take.push(broken());
  const { handed, advance, statuses } = await startOutbox(t, '', store);
  await store.commit({});
  await settled();
  t.match(statuses, [{ level: 'degraded', message: /Cannot read who passes on events/ }]);
  await advance(5000);
  t.strictSame(handed(), ['a-user: e1']);
  t.match(statuses, [{ level: 'degraded' }, { level: 'ok' }]);
  store.faults.renew.push(broken());
  await advance(10_000);
  t.equal(statuses.length, 4, 'a failed renewal is retried before the lease expires');
  t.equal(handed().length, 1);
});

void t.test('wanted event types are renewed before they expire', async (t) => {
  const { store, advance, statuses, stop } = await startOutbox(t, "types: ['agent.created']");
  t.equal(store.wants, 1);
  store.faults.want.push(broken());
  await advance(300_000);
  t.equal(store.wants, 2);
  t.match(statuses, [{ level: 'degraded', message: /Cannot store which event types are needed/ }]);
  await advance(10_000);
  t.equal(store.wants, 3);
  t.match(statuses, [{ level: 'degraded' }, { level: 'ok' }]);
  await advance(1_200_000);
  t.strictSame(await store.wanted(), new Set(['agent.created']));
  await stop();
  t.strictSame(await store.wanted(), new Set(['agent.created']), 'for its next start');
  await advance(900_000);
  t.strictSame(await store.wanted(), new Set());
});

void t.test('a reader that cannot be registered starts and emits once it is', async (t) => {
  const store = await WatchedLog.open(t);
  store.faults.open.push(broken(), broken(), broken());
  const { advance, handed, statuses } = await startOutbox(t, "types: ['trace.failed']", store);
  t.match(statuses, [{ level: 'degraded', message: /Cannot read the position/ }]);
  t.equal(store.wants, 0, 'no types are registered for an unregistered reader');
  await store.commit({});
  await advance(10_000);
  t.equal(store.wants, 1);
  t.match(statuses.at(-1), { level: 'ok' });
  await store.commit({});
  await settled();
  t.match(handed(), [/e2$/], 'events since its registration');
});

void t.test('a control store that rejects the reader fails the start', async (t) => {
  const store = await WatchedLog.open(t);
  store.faults.open.push(new RangeError('no reader'));
  await t.rejects(startOutbox(t, '', store), /no reader/);
});

void t.test('does not start without a control store', async (t) => {
  await t.rejects(startOutbox(t, 'control: query'), /query is no control plane/);
  const unstarted = outboxReceiver.create({
    ...componentSettings('outbox'),
    config: sectionConfig(outboxConfig, ''),
    outputs: {},
  });
  await t.resolves(async () => unstarted.shutdown?.(AbortSignal.abort()));
});

void t.test('rejects an unknown event type with a suggestion', async (t) => {
  t.throws(() => sectionConfig(outboxConfig, 'types: [trace.fialed]'), /did you mean "trace\.failed"\?/);
  t.throws(() => sectionConfig(outboxConfig, 'types: [agent.created, agent.created]'));
  t.throws(() => sectionConfig(outboxConfig, 'max_batch_size: 0'));
  const config = sectionConfig(outboxConfig, 'retry: { initial_interval: 0s }');
  t.match(outboxReceiver.check?.(config), [{ path: '/retry/initial_interval', message: /greater than 0/ }]);
});
