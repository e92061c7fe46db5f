import fc from 'fast-check';
import t from 'tap';
import type { EventPageLimit } from '../../../../src/storage/contracts/events.js';
import { isBehind, LAST_PLACE, type EventPlace } from '../../../../src/storage/duckdb/write/event-place.js';
import { readStoredEvents } from '../../../../src/storage/duckdb/write/stored-events.js';
import { neverDiffers, same } from '../../../support/property.js';
import { aTrace, DAY, NOON } from '../../../support/run-records.js';
import { BAD, EventEngine, type Listener } from '../event-engine.js';

type Step =
  | {
      readonly kind: 'write';
      readonly batches: readonly { readonly traces: number; readonly text: number }[];
      readonly fails: boolean;
      readonly daysAgo: number;
      readonly waits: boolean;
    }
  | { readonly kind: 'look'; readonly back: number; readonly limit: EventPageLimit }
  | { readonly kind: 'read'; readonly limit: EventPageLimit }
  | { readonly kind: 'move' | 'retain' | 'restart' };

const DAYS_KEPT = 2;
const LIMIT = { events: 1000, bytes: 1e9 };
const limit = fc.record({
  events: fc.integer({ min: 1, max: 15 }),
  bytes: fc.constantFrom(0, 700, 3000, 1e9),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('write'),
      batches: fc.array(
        fc.record({ traces: fc.integer({ min: 1, max: 6 }), text: fc.constantFrom(0, 300, 3000) }),
        { minLength: 1, maxLength: 3 },
      ),
      fails: fc.boolean(),
      daysAgo: fc.constantFrom(0, 1, 3),
      waits: fc.boolean(),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('look'), back: fc.nat(20), limit }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('read'), limit }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('move', 'retain', 'retain', 'retain', 'restart') }),
  },
);

/** A reader with concurrent writes. */
class Play {
  readonly #engine: EventEngine;
  readonly #user: Listener;
  readonly #start: EventPlace;
  /** Ids read so far. */
  readonly #ids: string[] = [];
  #cursor: EventPlace;
  #writes: Promise<unknown>[] = [];
  /** Number of comparisons answered from memory. */
  known = 0;

  constructor(engine: EventEngine, user: Listener, start: EventPlace) {
    this.#engine = engine;
    this.#user = user;
    this.#start = start;
    this.#cursor = start;
  }

  async step(step: Step): Promise<void> {
    const { parts } = this.#engine;
    if (step.kind === 'write') {
      const at = NOON - step.daysAgo * DAY;
      for (const { traces, text } of step.batches) {
        const items = Array.from({ length: traces }, () => aTrace(0, { outcome: 'ü'.repeat(text) }));
        this.#writes.push(this.#engine.write(this.#user, items, at));
      }
      if (step.fails)
        this.#writes.push(parts.writer.write({ kind: 'append', append: BAD }).catch(() => undefined));
      if (step.waits) await this.#settled();
    } else if (step.kind === 'look') await this.#compare(step.back, step.limit);
    else if (step.kind === 'read') await this.#read(step.limit);
    else {
      await this.#settled();
      if (step.kind === 'move') await this.#engine.settle();
      else if (step.kind === 'retain') await parts.housekeeping.applyRetention(NOON);
      else await this.#engine.reopen();
    }
  }

  /** The reader has every retained event once, in order. */
  async end(): Promise<void> {
    await this.#settled();
    while (await this.#read({ events: 5, bytes: 2000 }));
    for (const back of [0, 1, 5, 13]) await this.#compare(back, LIMIT);
    const stored = (await this.#engine.events(this.#start)).map(({ event }) => event.id);
    const left = new Set(stored);
    same(
      this.#ids.filter((id) => left.has(id)),
      stored,
    );
    same(new Set(this.#ids).size, this.#ids.length);
  }

  async #read(limit: EventPageLimit): Promise<boolean> {
    const page = await this.#engine.parts.events.read(this.#cursor, limit);
    this.#ids.push(...page.events.map(({ event }) => event.id));
    const cursor = page.events.at(-1) ?? this.#cursor;
    if (isBehind(this.#cursor, cursor)) throw new Error('the cursor goes back');
    this.#cursor = { commit: cursor.commit, place: cursor.place };
    return page.hasMore;
  }

  /** Compares memory and files at one moment, at an event this far from the end. */
  async #compare(back: number, limit: EventPageLimit): Promise<void> {
    const after = (await this.#engine.events(this.#start)).at(-1 - back) ?? this.#start;
    for (const cursor of [after, { ...after, place: LAST_PLACE }, { ...after, place: -1 }]) {
      const [found, stored] = await this.#engine.read(async (connection, capture) => {
        // In the same step as the capture.
        const found = this.#engine.parts.recent.read(cursor, limit);
        return [found, await readStoredEvents(connection, capture, cursor, limit)] as const;
      });
      if (found === null) continue;
      this.known++;
      same(found, stored);
    }
  }

  async #settled(): Promise<void> {
    await Promise.all(this.#writes.splice(0));
  }
}

void t.test('cached events match stored events through writes, compaction and retention', async (t) => {
  const engine = await EventEngine.open(t, {
    recentSize: { events: 12, bytes: 12_000 },
    segmentSize: { rows: 40, bytes: 1e9 },
    eventRetentionDays: DAYS_KEPT,
  });
  const user = await engine.addUser(['*']);
  let known = 0;
  await neverDiffers(
    t,
    { runs: 100, ms: 2000 },
    [fc.array(step, { minLength: 5, maxLength: 40 })],
    async (steps: readonly Step[]) => {
      const play = new Play(engine, user, { commit: engine.parts.segments.lastSeq, place: LAST_PLACE });
      for (const one of steps) await play.step(one);
      await play.end();
      known += play.known;
    },
  );
  t.ok(known > 0, `${known} comparisons answered from memory`);
});
