import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { ConsumeError } from '../../src/component/consume-error.js';
import { envelope } from '../../src/signal/event.js';
import type { ControlStore } from '../../src/storage/control/control-store.js';
import { FactPump } from '../../src/storage/duckdb/client/fact-pump.js';
import type { FactPage, NumberedFact } from '../../src/storage/duckdb/events/facts.js';
import { openControlPlane } from '../support/control-plane.js';
import { HandClock } from '../support/hand-clock.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { until } from '../support/until.js';
import { aUser } from '../storage/meta-records.js';

const SOURCE = 'duckdb/one';
const ALL = { events: 1000, bytes: 1e9 };
const broken = () => new ConsumeError('gone', { code: 'storage_unavailable', retryable: true });

/** Facts in a list, whose mark is how many come before. */
class Facts {
  readonly facts: NumberedFact[] = [];
  readonly asked: (string | null)[] = [];
  most = 1000;

  add(tenant: number, count = 1): void {
    for (let i = 0; i < count; i++) {
      const head = { id: randomUUID(), type: 'trace.failed', timestamp: 1 } as const;
      const body = envelope(head, {});
      this.facts.push({ tenant, event: { ...head, organization_id: null, endpoint_id: null, body } });
    }
  }

  get ids(): readonly string[] {
    return this.facts.map(({ event }) => event.id);
  }

  async read(mark: string | null): Promise<FactPage> {
    this.asked.push(mark);
    const from = Number(mark ?? 0);
    const facts = this.facts.slice(from, from + this.most);
    const end = from + facts.length;
    return { facts, mark: String(end), hasMore: end < this.facts.length };
  }
}

async function place(t: Test) {
  const control = await openControlPlane(t);
  const users = [aUser(), aUser()];
  const tenants: number[] = [];
  for (const user of users) tenants.push(await control.accounts.createUser(user));
  const start = await control.events.open('test');
  const told = async () => {
    const { events } = await control.events.read(start, ALL);
    return events.map(({ tenant, event }) => [users.findIndex(({ id }) => id === tenant), event.id]);
  };
  return { control, tenants, told, facts: new Facts() };
}

function startPump(
  t: Test,
  control: ControlStore,
  facts: Facts,
  append: ControlStore['events']['append'] = (...args) => control.events.append(...args),
) {
  const [clock, logger, statuses] = [new HandClock(), new RecordingLogger(), [] as boolean[]];
  const pump = new FactPump({
    source: SOURCE,
    events: { append, markOf: (source) => control.events.markOf(source) },
    accounts: control.accounts,
    read: (mark) => facts.read(mark),
    clock,
    logger,
    onFailing: (isFailing) => statuses.push(isFailing),
  });
  t.teardown(() => pump.stop());
  return { pump, clock, logger, statuses };
}

void t.test('facts come into the log in their order, page by page, with the mark', async (t) => {
  const { control, tenants, told, facts } = await place(t);
  const [one = 0, two = 0] = tenants;
  facts.most = 2;
  facts.add(one, 3);
  facts.add(two, 2);
  const { pump } = startPump(t, control, facts);
  const expected = (): unknown => facts.ids.map((id, i) => [i < 3 ? 0 : 1, id]);
  await until('all are there', async () => (await told()).length === 5);
  t.strictSame(await told(), expected());
  await until('the mark is noted', async () => (await control.events.markOf(SOURCE)) === '5');
  t.strictSame(facts.asked, [null, '2', '4'], 'what has no more is not asked again');
  facts.add(two);
  pump.wake();
  await until('the new one is there', async () => (await told()).length === 6);
  t.strictSame(await told(), expected());
  await pump.stop();
  facts.add(two);
  pump.wake();
  const next = startPump(t, control, facts);
  await until('the next start goes on', async () => (await told()).length === 7);
  t.equal(facts.asked.at(-1), '6');
  await next.pump.stop();
});

void t.test('while the control store fails they wait, and each is told once', async (t) => {
  const { control, tenants, told, facts } = await place(t);
  facts.add(tenants[0] ?? 0, 3);
  let calls = 0;
  const append: ControlStore['events']['append'] = async (...args) => {
    calls++;
    if (calls <= 2) throw broken();
    const added = await control.events.append(...args);
    // The answer is lost after the transaction.
    if (calls === 3) throw broken();
    return added;
  };
  const { pump, clock, statuses, logger } = startPump(t, control, facts, append);
  await until('it failed', () => statuses.length === 1);
  await until('it is brought', () => {
    clock.advance(200);
    return statuses.length === 2;
  });
  t.equal(calls, 3, 'what was done is not done again');
  t.strictSame(statuses, [true, false]);
  facts.add(tenants[0] ?? 0);
  pump.wake();
  await until('it goes on', () => calls === 4);
  t.match(logger.lines, [
    /^warn Events of telemetry were not brought into the log; it is tried again err=gone/,
  ]);
  await until('all are there', async () => (await told()).length === 4);
  t.strictSame(
    (await told()).map(([, id]) => id),
    facts.ids,
  );
  t.equal(await control.events.markOf(SOURCE), '4');
});

void t.test('a stop does not wait for a store that fails', async (t) => {
  const { control, tenants, facts } = await place(t);
  facts.add(tenants[0] ?? 0);
  const { pump, statuses } = startPump(t, control, facts, async () => {
    throw broken();
  });
  await until('it failed', () => statuses.length === 1);
  await pump.stop();
  t.equal(await control.events.markOf(SOURCE), null);
});

void t.test('facts of nobody are passed over, and said', async (t) => {
  const { control, tenants, told, facts } = await place(t);
  facts.add(999);
  facts.add(tenants[0] ?? 0);
  const { logger } = startPump(t, control, facts);
  await until('the other is there', async () => (await told()).length === 1);
  t.match(logger.lines, [/^error Events of users that there are not were passed over events=1/]);
});
