import fc from 'fast-check';
import t from 'tap';
import { ALL_EVENTS, envelope } from '../../../../src/signal/event.js';
import { formatTime } from '../../../../src/signal/time.js';
import type { TelemetryEvent } from '../../../../src/storage/duckdb/write/stored-events.js';
import { neverDiffers, same } from '../../../support/property.js';
import { NOON } from '../../../support/run-records.js';
import { dataOf, EventEngine, START, type Listener } from '../event-engine.js';
import { EventModel, type ModelEnd } from './event-model.js';
import { eventScript, IDLE_MS, type EventStep, type SentBatch } from './event-scripts.js';

t.setTimeout(0);

const STEP_MS = 400;

/** Two users of a store, their wanted events and the expected events of the model. */
class Play {
  readonly #engine: EventEngine;
  readonly #users: readonly [Listener, Listener];
  readonly #page: number;
  readonly #model = new EventModel();
  readonly #wants: (readonly string[] | null)[] = [[ALL_EVENTS], [ALL_EVENTS]];
  readonly #agents = new Set<string>();
  #read: { readonly commit: number; readonly place: number };
  /** All events received, for the final comparison. */
  readonly #all: TelemetryEvent[] = [];
  now: number;

  constructor(
    engine: EventEngine,
    users: readonly [Listener, Listener],
    from: { page: number; now: number; read: { readonly commit: number; readonly place: number } },
  ) {
    this.#engine = engine;
    this.#users = users;
    this.#page = from.page;
    this.#read = from.read;
    this.now = from.now;
  }

  async step(step: EventStep): Promise<void> {
    this.now += STEP_MS * 1000;
    if (step === 'sweep') {
      // Repeated to cover data from before the last restart.
      for (let i = 0; i < 3; i++) {
        this.now += IDLE_MS * 1000;
        await this.#engine.timeOutIdle(this.now);
      }
      await this.#compare([], this.#model.sweep());
    } else if (step === 'settle') await this.#engine.settle();
    else if (step === 'restart') await this.#engine.reopen();
    else if ('wants' in step) {
      this.#wants[step.tenant] = step.wants;
      await this.#engine.setWanted(this.#users[step.tenant], step.wants);
    } else if ('outcome' in step) {
      await this.#engine.setOutcome(
        this.#users[step.tenant],
        step.traceId,
        step.outcome === 'good',
        step.outcome,
      );
      await this.#compare([]);
    } else {
      await Promise.all(
        step.batches.map(({ tenant, items }) => this.#engine.write(this.#users[tenant], items, this.now)),
      );
      await this.#compare(step.batches);
    }
  }

  /** Everything is still stored unchanged. */
  async end(from: { readonly commit: number; readonly place: number }): Promise<void> {
    same(await this.#engine.events(from, { events: this.#page, bytes: 1e9 }), this.#all);
  }

  /** @param swept runs that ended without new data; they have the time of their last data, and any order */
  async #compare(batches: readonly SentBatch[], swept?: readonly ModelEnd[]): Promise<void> {
    const page = { events: this.#page, bytes: 600 };
    const all = await this.#engine.events(this.#read, page);
    this.#all.push(...all);
    this.#read = all.at(-1) ?? this.#read;
    for (const one of all) same(one.event.body, envelope(one.event, dataOf(one)));
    const commits = new Set(all.map(({ commit }) => commit));
    for (const commit of commits) {
      const places = all.filter((one) => one.commit === commit).map(({ place }) => place);
      same(
        places,
        places.map((_, i) => i),
      );
    }
    // Runs of earlier users may time out too.
    const found = all.filter((one) => this.#users.some(({ tenant }) => tenant === one.tenant));
    const created = found.filter(({ event }) => event.type === 'agent.created');
    same(
      [...created, ...found.filter((one) => !created.includes(one))].map(({ event }) => event.id),
      found.map(({ event }) => event.id),
    );
    await this.#compareAgents(created);
    const expected: End[] = [];
    for (const { tenant, traceId } of swept ?? this.#model.commit(batches)) {
      const data = await this.#engine.shownRun(this.#users[tenant], traceId);
      const type = `trace.${data.status}`;
      if (!this.#isWanted(tenant, type)) continue;
      expected.push({ tenant: this.#users[tenant].tenant, type, timestamp: this.now, data });
    }
    const ends = found
      .filter((one) => !created.includes(one))
      .map((one): End => ({
        tenant: one.tenant,
        type: one.event.type,
        timestamp: one.event.timestamp,
        data: dataOf(one),
      }));
    if (swept === undefined) same(ends, expected);
    else same(inOrder(ends), inOrder(expected));
    if (batches.length > 0 && commits.size > 1) throw new Error('one group took several commits');
  }

  async #compareAgents(created: readonly TelemetryEvent[]): Promise<void> {
    const expected: unknown[] = [];
    for (const { tenant, id, name, created_at } of await this.#engine.agents()) {
      const user = this.#users.findIndex((one) => one.tenant === tenant);
      if (this.#agents.has(id) || user < 0) continue;
      this.#agents.add(id);
      if (!this.#isWanted(user, 'agent.created')) continue;
      const data = { id, name, created_at: formatTime(created_at) };
      expected.push({ tenant, timestamp: created_at, data });
    }
    const found = created.map((one) => ({
      tenant: one.tenant,
      timestamp: one.event.timestamp,
      data: dataOf(one),
    }));
    found.sort((a, b) => (String(a.data.id) < String(b.data.id) ? -1 : 1));
    same(found, expected);
  }

  #isWanted(user: number, type: string): boolean {
    const wants = this.#wants[user] ?? null;
    return wants !== null && (wants.includes(ALL_EVENTS) || wants.includes(type));
  }
}

interface End {
  readonly tenant: number;
  readonly type: string;
  readonly timestamp: number;
  readonly data: object;
}

function inOrder(ends: readonly End[]): string[] {
  return ends
    .map(({ tenant, type, data }) => JSON.stringify([tenant, type, Object.entries(data).sort()]))
    .sort();
}

void t.test('each run has one end event in any order', async (t) => {
  const engine = await EventEngine.open(t);
  let now = NOON;
  let read: { readonly commit: number; readonly place: number } = START;
  await neverDiffers(
    t,
    { runs: 150, ms: 2000 },
    [eventScript, fc.integer({ min: 1, max: 4 })],
    async (steps, page) => {
      // New users instead of a new store: files grow, are sealed and compacted across runs.
      const users = [await engine.addUser([ALL_EVENTS]), await engine.addUser([ALL_EVENTS])] as const;
      read = (await engine.events(read)).at(-1) ?? read;
      const from = read;
      const play = new Play(engine, users, { page, now, read });
      try {
        for (const step of steps) await play.step(step);
        await play.end(from);
      } finally {
        now = play.now;
      }
    },
  );
  t.notMatch(engine.logger.lines, /failed|could not/);
});
