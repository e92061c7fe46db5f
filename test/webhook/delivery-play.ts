import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { EventRecord, EventType } from '../../src/signal/event.js';
import type { DeliveryClaim, FinishedAttempt } from '../../src/storage/delivery-store.js';
import { anEndpoint, anOrganization } from '../storage/meta-records.js';
import type { TestStore } from '../storage/test-store.js';
import { same } from '../support/property.js';
import { NOON } from '../support/run-records.js';
import { attemptsOf, DeliveryModel, statusOf } from './delivery-model.js';
import { anEventOf, failure, success } from './delivery-place.js';

const SECOND = 1_000_000;
const TYPES: readonly EventType[] = ['trace.failed', 'trace.completed', 'agent.created'];
const SUBSCRIPTIONS = [['*'], ['trace.failed'], ['trace.completed', 'trace.failed']];
const THRESHOLD = 3;

/** What is chosen is counted from the end of what there is: what came last is chosen most often. */
const which = fc.nat({ max: 5 });
export const deliveryStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      user: fc.nat(1),
      types: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
      repeats: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      limit: fc.integer({ min: 1, max: 6 }),
      perEndpoint: fc.integer({ min: 1, max: 3 }),
      perOrganization: fc.integer({ min: 1, max: 4 }),
      /** Claims that the sender has lost before. */
      loses: fc.array(which, { maxLength: 2 }),
      /** Whether the answer gets lost, too. */
      isLost: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      kind: fc.constant('finish' as const),
      results: fc.array(
        fc.record({
          which,
          outcome: fc.constantFrom('success', 'failure', 'failure', 'last', 'gone'),
          delay: fc.integer({ min: 0, max: 20 }),
        }),
        { maxLength: 4 },
      ),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('retry' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pause' as const), which }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('resume' as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('away' as const),
      which,
      seconds: fc.oneof(fc.integer({ min: 0, max: 90 }), fc.constantFrom(48 * 3600, 96 * 3600)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rotate' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('create' as const), slug: fc.nat(1), types: fc.nat(2) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('member' as const), user: fc.nat(1), slug: fc.nat(1) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      seconds: fc.oneof(
        fc.integer({ min: 0, max: 15 }),
        fc.integer({ min: -40, max: 40 }),
        fc.constantFrom(-3600, 120, 7200),
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), seconds: fc.nat(30) }) },
);
/** Something that happens. */
export type DeliveryStep = typeof deliveryStep extends fc.Arbitrary<infer Value> ? Value : never;

/** A model and a store to which the same happens, in organizations of their own. */
export class DeliveryPlay {
  readonly #opened: TestStore;
  readonly #model = new DeliveryModel();
  readonly #users: readonly string[];
  readonly #slugs: readonly string[];
  readonly #events: EventRecord[] = [];
  /** Of attempts that may have ended. */
  readonly #claims: DeliveryClaim[] = [];
  /** Those that the sender has. */
  #held: readonly DeliveryClaim[] = [];
  #cursor;
  #now = NOON;

  private constructor(
    opened: TestStore,
    users: readonly string[],
    slugs: readonly string[],
    cursor: Awaited<ReturnType<TestStore['store']['openEventReader']>>,
  ) {
    this.#opened = opened;
    this.#users = users;
    this.#slugs = slugs;
    this.#cursor = cursor;
  }

  static async begin(opened: TestStore): Promise<DeliveryPlay> {
    const users = [await opened.addUser(), await opened.addUser()];
    const slugs = [randomUUID(), randomUUID()];
    for (const slug of slugs) await opened.store.createOrganization(anOrganization(slug));
    const cursor = await opened.store.openEventReader(randomUUID());
    const play = new DeliveryPlay(opened, users, slugs, cursor);
    for (const [user, slug] of [
      [0, 0],
      [0, 1],
      [1, 1],
    ] as const)
      await play.step({ kind: 'member', user, slug });
    for (const types of [0, 1, 2]) await play.step({ kind: 'create', slug: types % 2, types });
    return play;
  }

  get #store() {
    return this.#opened.store;
  }

  async step(step: DeliveryStep): Promise<void> {
    await this.#play(step);
    const { events, cursor } = await this.#store.readEvents(this.#cursor, { events: 100, bytes: 1_000_000 });
    this.#cursor = cursor;
    const told = events.map(
      ({ event }) => (JSON.parse(event.body) as { data: { endpoint_id: string } }).data.endpoint_id,
    );
    same(told, this.#model.disabled.splice(0));
    await this.#compare();
  }

  async #play(step: DeliveryStep): Promise<void> {
    const model = this.#model;
    switch (step.kind) {
      case 'add': {
        const user = this.#users[step.user] ?? '';
        const made = step.types.map((type) => anEventOf(this.#now, { type: TYPES[type] ?? 'trace.failed' }));
        const events = step.repeats ? [...this.#events.slice(-3), ...made, ...made] : made;
        this.#events.push(...made);
        const added = await this.#store.addDeliveries({ tenant: user, items: events }, this.#now);
        same(added, model.add(user, events, this.#now));
        return;
      }
      case 'claim': {
        const { limit, perEndpoint, perOrganization, loses, isLost } = step;
        const lost = loses.map((which) => chosen(this.#held, which));
        this.#held = this.#held.filter((claim) => !lost.includes(claim));
        const request = { now: this.#now, limit, perEndpoint, perOrganization, held: this.#held };
        const claims = await this.#store.claimDeliveries(request);
        model.claimed(claims, request);
        this.#claims.push(...claims.claims);
        if (!isLost) this.#held = [...this.#held, ...claims.claims];
        return;
      }
      case 'finish': {
        const results = step.results.flatMap(({ which, outcome, delay }) => {
          const claim = chosen(this.#claims, which);
          return claim === undefined ? [] : [{ claim, result: this.#result(claim, outcome, delay) }];
        });
        const rules = { now: this.#now, breakerThreshold: THRESHOLD };
        const paused = await this.#store.finishDeliveries(
          results.map(({ result }) => result),
          rules,
        );
        same([...paused].sort(), model.finished(results, THRESHOLD).sort());
        const told = results.map(({ claim }) => claim);
        this.#held = this.#held.filter((claim) => !told.includes(claim));
        return;
      }
      case 'retry': {
        const delivery = chosen(model.deliveries, step.which);
        if (delivery === undefined) return;
        model.retry(delivery);
        same(await this.#store.retryDelivery(delivery.endpoint.slug, delivery.id), true);
        return;
      }
      case 'pause':
      case 'resume': {
        const endpoint = chosen(model.endpoints, step.which);
        if (endpoint === undefined) return;
        const is_active = step.kind === 'resume';
        if (is_active) model.resume(endpoint, this.#now);
        else model.pause(endpoint);
        await this.#store.updateEndpoint(endpoint.slug, endpoint.id, { is_active }, this.#now);
        return;
      }
      case 'away':
        await this.#play({ kind: 'pause', which: step.which });
        this.#now += step.seconds * SECOND;
        await this.#play({ kind: 'resume', which: step.which });
        return;
      case 'rotate': {
        const endpoint = chosen(model.endpoints, step.which);
        if (endpoint === undefined) return;
        endpoint.secret = randomUUID();
        endpoint.url = `https://example.com/${randomUUID()}`;
        await this.#store.rotateEndpointSecret(endpoint.slug, endpoint.id, endpoint.secret);
        await this.#store.updateEndpoint(endpoint.slug, endpoint.id, { url: endpoint.url }, this.#now);
        return;
      }
      case 'delete': {
        const endpoint = chosen(model.endpoints, step.which);
        if (endpoint === undefined) return;
        model.delete(endpoint);
        same(await this.#store.deleteEndpoint(endpoint.slug, endpoint.id), true);
        return;
      }
      case 'create': {
        const slug = this.#slugs[step.slug] ?? '';
        const types = SUBSCRIPTIONS[step.types] ?? ['*'];
        const made = anEndpoint({ event_types: types });
        await this.#store.createEndpoint(slug, made);
        const { id, url, sealed_secret: secret } = made;
        model.endpoints.push({ id, slug, types, active: true, failures: 0, url, secret });
        return;
      }
      case 'member': {
        const [user, slug] = [this.#users[step.user] ?? '', this.#slugs[step.slug] ?? ''];
        const name = `${user} ${slug}`;
        if (model.members.delete(name)) await this.#store.removeMember(slug, user);
        else {
          model.members.add(name);
          await this.#store.putMember(slug, user, 'member');
        }
        return;
      }
      case 'clock':
        this.#now += step.seconds * SECOND;
        return;
      case 'restart':
        await this.#opened.reopen();
        await this.#store.wantEvents(['webhook.endpoint.disabled']);
        model.restart();
        return;
      case 'remove': {
        const before = this.#now - step.seconds * SECOND;
        same(await this.#store.removeDeliveries(before), model.remove(before));
        return;
      }
    }
  }

  #result(claim: DeliveryClaim, outcome: string, delay: number): FinishedAttempt {
    if (outcome === 'success') return success(claim);
    const retryAt = outcome === 'failure' ? this.#now + delay * SECOND : null;
    return failure(claim, retryAt, { isGone: outcome === 'gone' });
  }

  async #compare(): Promise<void> {
    for (const endpoint of this.#model.endpoints) {
      const { slug, id } = endpoint;
      const expected = this.#model.of(endpoint);
      const found = await this.#store.listDeliveries(slug, id, { offset: 0, limit: 1000 });
      // Ids are the store's to choose.
      for (const [i, delivery] of expected.entries()) delivery.id ||= found?.items[i]?.id ?? '';
      same(found, {
        items: expected.map((delivery) => ({
          id: delivery.id,
          event_type: delivery.event.type,
          status: statusOf(delivery),
          created_at: delivery.created,
          attempt_count: delivery.attempts.length,
        })),
        count: expected.length,
      });
      const stored = await this.#store.readEndpoint(id);
      same([stored?.is_active, stored?.consecutive_failures], [endpoint.active, endpoint.failures]);
    }
    same((await this.#store.deliveryFigures(this.#now)).pending, this.#model.pending);
  }

  /** Delivers what waits, each at its time, as far as it comes with a few claims. */
  async drain(): Promise<void> {
    for (let i = 0; i < 15; i++) {
      const request = { now: this.#now, limit: 100, perEndpoint: 100, perOrganization: 100, held: [] };
      const found = await this.#store.claimDeliveries(request);
      this.#model.claimed(found, request);
      const results = found.claims.map((claim) => ({ claim, result: success(claim) }));
      await this.#store.finishDeliveries(
        results.map(({ result }) => result),
        { now: this.#now, breakerThreshold: THRESHOLD },
      );
      this.#model.finished(results, THRESHOLD);
      if (found.nextDueAt === null) return;
      this.#now = Math.max(this.#now, found.nextDueAt);
    }
  }

  /** Every attempt of every delivery. */
  async checkAll(): Promise<void> {
    for (const delivery of this.#model.deliveries) {
      const found = await this.#store.readDelivery(delivery.endpoint.slug, delivery.id);
      same([found?.body, found?.attempts], [delivery.event.body, attemptsOf(delivery)]);
    }
  }

  /** Leaves nothing to those who come after. */
  async end(): Promise<void> {
    for (const endpoint of this.#model.endpoints)
      await this.#store.deleteEndpoint(endpoint.slug, endpoint.id);
    await this.#store.removeDeliveries(Number.MAX_SAFE_INTEGER);
  }
}

function chosen<Value>(values: readonly Value[], which: number): Value | undefined {
  return values[values.length - 1 - (which % Math.max(1, values.length))];
}
