import type { EventRecord } from '../../src/signal/event.js';
import type {
  ClaimRequest,
  Claims,
  DeliveryClaim,
  FinishedAttempt,
} from '../../src/storage/delivery-store.js';
import { same } from '../support/property.js';

/** What the exporter's README says of deliveries, kept in plain lists and written without the store. */

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;

export interface ModelEndpoint {
  readonly id: string;
  readonly slug: string;
  readonly types: readonly string[];
  active: boolean;
  failures: number;
  url: string;
  secret: string;
}

interface ModelAttempt {
  readonly at: number;
  readonly manual: boolean;
  outcome: 'running' | 'succeeded' | 'failed' | 'lost' | 'restarted';
}

export interface ModelDelivery {
  readonly event: EventRecord;
  readonly endpoint: ModelEndpoint;
  readonly created: number;
  readonly order: number;
  /** The store's, as the number, as soon as it was seen. */
  id: string;
  number: number | null;
  readonly attempts: ModelAttempt[];
  /** When the schedule goes on; null: it has ended. */
  next: number | null;
  asked: number;
}

type Shares = Pick<ClaimRequest, 'perEndpoint' | 'perOrganization'>;

/** Attempts under way to its organization and to its endpoint, and when it is due: the smallest is next. */
type Turn = readonly [ofOrganization: number, ofEndpoint: number, due: number];

export class DeliveryModel {
  /** Users of organizations, as `user slug`. */
  readonly members = new Set<string>();
  endpoints: ModelEndpoint[] = [];
  deliveries: ModelDelivery[] = [];
  /** Endpoints that the breaker has paused, in order. */
  readonly disabled: string[] = [];
  #taken = new Map<string, number>();
  #order = 0;

  add(user: string, events: readonly EventRecord[], now: number): number {
    const before = this.deliveries.length;
    for (const event of events) {
      if (this.#taken.has(event.id)) continue;
      const wanted = this.endpoints.filter(
        ({ active, slug, types }) =>
          active &&
          this.members.has(`${user} ${slug}`) &&
          (types.includes('*') || types.includes(event.type)),
      );
      if (wanted.length > 0) this.#taken.set(event.id, now);
      for (const endpoint of wanted)
        this.deliveries.push({
          event,
          endpoint,
          created: now,
          order: this.#order++,
          id: '',
          number: null,
          attempts: [],
          next: now,
          asked: 0,
        });
    }
    return this.deliveries.length - before;
  }

  /** Takes over what was claimed, where that is what had to be. @throws where it is not */
  claimed({ claims, nextDueAt }: Claims, { now, limit, held, ...shares }: ClaimRequest): void {
    for (const { delivery, attempt, lease } of this.#running())
      if (!held.some((claim) => delivery.number === claim.delivery && lease === claim.lease))
        this.#giveUp(delivery, attempt, 'lost');
    for (const claim of claims) {
      const delivery = this.find(claim);
      same([this.#turnOf(delivery, shares)], this.#turns(now, shares).slice(0, 1));
      const manual = delivery.asked > 0;
      same(claim, {
        delivery: claim.delivery,
        lease: delivery.attempts.length + 1,
        delivery_id: delivery.id,
        attempt: delivery.attempts.length + 1,
        isManual: manual,
        // Of no meaning where nothing is left of the schedule.
        step: manual && delivery.next === null ? claim.step : stepsOf(delivery),
        event_id: delivery.event.id,
        event_type: delivery.event.type,
        body: delivery.event.body,
        endpoint_id: delivery.endpoint.id,
        url: delivery.endpoint.url,
        sealed_secret: delivery.endpoint.secret,
      });
      if (manual) delivery.asked--;
      delivery.number = claim.delivery;
      delivery.attempts.push({ at: now, manual, outcome: 'running' });
    }
    if (claims.length < limit) same(this.#turns(now, shares), []);
    same(claims.length <= limit, true);
    const next = this.#turns(Infinity, shares).map(([, , due]) => due || now);
    same(nextDueAt, next.length === 0 ? null : Math.min(...next));
  }

  /** @returns the endpoints that were paused */
  finished(
    results: readonly { claim: DeliveryClaim; result: FinishedAttempt }[],
    threshold: number,
  ): string[] {
    const paused: string[] = [];
    for (const { claim, result } of results) {
      const delivery = this.deliveries.find(({ id }) => id === claim.delivery_id);
      const attempt = delivery?.attempts[claim.attempt - 1];
      if (delivery === undefined || attempt?.outcome !== 'running') continue;
      attempt.outcome = result.succeeded ? 'succeeded' : 'failed';
      if (result.succeeded || result.isGone) delivery.next = null;
      else if (!attempt.manual) delivery.next = result.retryAt;
      const { endpoint } = delivery;
      endpoint.failures = result.succeeded ? 0 : endpoint.failures + 1;
      if (endpoint.active && endpoint.failures >= threshold) {
        this.pause(endpoint);
        paused.push(endpoint.id);
        this.disabled.push(endpoint.id);
      }
    }
    return paused;
  }

  retry(delivery: ModelDelivery): void {
    if (delivery.endpoint.active) delivery.asked++;
  }

  pause(endpoint: ModelEndpoint): void {
    endpoint.active = false;
    for (const delivery of this.of(endpoint)) delivery.asked = 0;
  }

  resume(endpoint: ModelEndpoint, now: number): void {
    if (!endpoint.active) this.#release(endpoint, now);
    endpoint.active = true;
    endpoint.failures = 0;
  }

  delete(endpoint: ModelEndpoint): void {
    this.endpoints = this.endpoints.filter((other) => other !== endpoint);
    this.deliveries = this.deliveries.filter((delivery) => delivery.endpoint !== endpoint);
  }

  restart(): void {
    for (const { delivery, attempt } of this.#running()) this.#giveUp(delivery, attempt, 'restarted');
  }

  /** @returns how many */
  remove(before: number): number {
    const count = this.deliveries.length;
    this.deliveries = this.deliveries.filter(({ created }) => created >= before);
    for (const [id, at] of this.#taken) if (at < before) this.#taken.delete(id);
    return count - this.deliveries.length;
  }

  /** As a list has them. */
  of(endpoint: ModelEndpoint): readonly ModelDelivery[] {
    return this.deliveries
      .filter((delivery) => delivery.endpoint === endpoint)
      .sort((a, b) => b.created - a.created || b.order - a.order);
  }

  get pending(): number {
    return this.deliveries.filter((delivery) => statusOf(delivery) === 'pending').length;
  }

  find({ delivery_id }: DeliveryClaim): ModelDelivery {
    const found = this.deliveries.find(({ id }) => id === delivery_id);
    if (found === undefined) throw new Error(`nobody knows the delivery ${delivery_id}`);
    return found;
  }

  #running() {
    return this.deliveries.flatMap((delivery) =>
      delivery.attempts.flatMap((attempt, i) =>
        attempt.outcome === 'running' ? [{ delivery, attempt, lease: i + 1 }] : [],
      ),
    );
  }

  /** The turns of what could be claimed by a time, the next first. */
  #turns(now: number, shares: Shares): readonly Turn[] {
    return this.endpoints
      .flatMap(({ id }) => this.#free(id).map((delivery) => this.#turnOf(delivery, shares)))
      .filter((turn) => turn !== undefined)
      .filter(([, , due]) => due <= now)
      .sort(([a, b, c], [x, y, z]) => a - x || b - y || c - z);
  }

  /** @returns undefined where it cannot be claimed, whatever the time is */
  #turnOf(delivery: ModelDelivery, { perEndpoint, perOrganization }: Shares): Turn | undefined {
    const { endpoint } = delivery;
    if (!endpoint.active || !this.#free(endpoint.id).includes(delivery)) return undefined;
    const running = this.#running().map((one) => one.delivery.endpoint);
    const ofOrganization = running.filter(({ slug }) => slug === endpoint.slug).length;
    const ofEndpoint = running.filter((other) => other === endpoint).length;
    if (ofOrganization >= perOrganization || ofEndpoint >= perEndpoint) return undefined;
    return [ofOrganization, ofEndpoint, dueOf(delivery)];
  }

  /** What could be claimed, were there room and time. */
  #free(endpointId: string): readonly ModelDelivery[] {
    return this.deliveries.filter(
      (delivery) =>
        delivery.endpoint.id === endpointId &&
        (delivery.asked > 0 || delivery.next !== null) &&
        !delivery.attempts.some(({ outcome }) => outcome === 'running'),
    );
  }

  /** At a pause: spread over 60 s, what is older than 96 h fails. */
  #release({ id }: ModelEndpoint, now: number): void {
    const held = this.#free(id);
    for (const delivery of held) if (delivery.created < now - 96 * HOUR) delivery.next = null;
    const soon = held.filter(({ next }) => next !== null && next < now + MINUTE);
    soon.sort((a, b) => dueOf(a) - dueOf(b) || a.order - b.order);
    for (const [i, delivery] of soon.entries())
      delivery.next = Math.max(dueOf(delivery), now + Math.floor((i * MINUTE) / soon.length));
  }

  #giveUp(delivery: ModelDelivery, attempt: ModelAttempt, outcome: 'lost' | 'restarted'): void {
    attempt.outcome = outcome;
    if (attempt.manual && delivery.endpoint.active) delivery.asked++;
  }
}

/** What was asked for comes before what the schedule has to do. */
function dueOf({ asked, next }: ModelDelivery): number {
  return asked > 0 ? 0 : (next ?? Infinity);
}

function stepsOf({ attempts }: ModelDelivery): number {
  return attempts.filter(
    ({ manual, outcome }) => !manual && (outcome === 'succeeded' || outcome === 'failed'),
  ).length;
}

export function statusOf({ attempts, asked, next }: ModelDelivery): string {
  if (asked > 0 || next !== null || attempts.some(({ outcome }) => outcome === 'running')) return 'pending';
  return attempts.some(({ outcome }) => outcome === 'succeeded') ? 'success' : 'failed';
}

/** What the store is to say of the attempts. */
export function attemptsOf({ attempts }: ModelDelivery) {
  const words = {
    running: { http_status_code: null, response_body: '', duration_ms: null, error_message: null },
    succeeded: { http_status_code: 200, response_body: 'thanks', duration_ms: 12, error_message: null },
    failed: { http_status_code: 500, response_body: 'no', duration_ms: 12, error_message: null },
  };
  const lost = (error_message: string) => ({ ...words.running, error_message });
  return attempts.map(({ at, outcome }, i) => {
    const { http_status_code, response_body, duration_ms, error_message } = {
      ...words,
      lost: lost('interrupted: nobody is making it'),
      restarted: lost('interrupted by restart'),
    }[outcome];
    return {
      attempt_number: i + 1,
      http_status_code,
      response_body,
      duration_ms,
      attempted_at: at,
      error_message,
    };
  });
}
