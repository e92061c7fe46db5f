import { createHash } from 'node:crypto';
import { grants } from '../../auth/scopes.js';
import type { ConsumeContext } from '../../component/consumer.js';
import type { Host } from '../../component/host.js';
import type { Identity } from '../../component/identity.js';
import type { Clock } from '../../component/telemetry.js';
import type { KeyValue, Metric, Resource } from '../../otlp/wire/requests.js';
import type { TelemetrySignal } from '../../signal/batch.js';
import { MICROS_PER_SECOND } from '../../signal/time-units.js';
import { isControlStore, type ControlStore } from '../../storage/contracts/control-store.js';
import { InvalidatedCache } from '../../storage/shared/invalidated-cache.js';
import type { OtlpConfig } from './config.js';
import type { ReceivedRequests } from './decode.js';

type Config = NonNullable<OtlpConfig['tenant']>;
export type Sender = Pick<Identity, 'userId' | 'keyId'> & Partial<Pick<Identity, 'scopes'>>;

/** The part of a request that belongs to one user. */
export interface Owned<S extends TelemetrySignal> {
  readonly userId: string;
  readonly request: ReceivedRequests[S];
  readonly context: ConsumeContext;
  /** Number of spans, points or records. */
  readonly items: number;
}

/** Whether a user takes data is asked again after this time: another daemon may have disabled it. */
const REMEMBERED_FOR = 5 * MICROS_PER_SECOND;

/** Finds whose data the resources of a request are (`tenant` in the configuration): see README.md. */
export class Owners {
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #users: ReadonlyMap<string, string>;
  #accounts: ControlStore['accounts'] | undefined;
  /** By user, whether it exists and is not disabled. */
  #active: InvalidatedCache<boolean> | undefined;

  constructor(config: Config, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
    this.#users = new Map(Object.entries(config.users).map(([value, id]) => [value, id.toLowerCase()]));
  }

  /** @throws Error without the control store */
  start(host: Pick<Host, 'extension'>): void {
    const { accounts, watch } = host.extension(this.#config.control, isControlStore);
    this.#accounts = accounts;
    this.#active = new InvalidatedCache(this.#users.size, this.#clock, watch, ['keys'], REMEMBERED_FOR);
  }

  close(): void {
    this.#active?.close();
  }

  /**
   * Splits a request by the users whose data its resources are.
   *
   * @returns the parts, and the reason for each rejected item
   * @throws ConsumeError, retryable, if users cannot be read
   */
  async split<S extends TelemetrySignal>(
    request: ReceivedRequests[S],
    sender: Sender,
    context: ConsumeContext,
  ): Promise<{ readonly owned: readonly Owned<S>[]; readonly rejected: readonly string[] }> {
    const list = listOf(request);
    const byOwner = new Map<string, { readonly positions: number[]; items: number }>();
    const rejected: string[] = [];
    for (const [position, each] of list.entries.entries()) {
      const items = itemsOf(each);
      const owner = await this.#ownerOf(each.resource, sender);
      if (owner.kind === 'refused') {
        for (let item = 0; item < items; item++) rejected.push(`/${list.name}/${position}: ${owner.reason}`);
        continue;
      }
      const part = byOwner.get(owner.userId) ?? { positions: [], items: 0 };
      part.positions.push(position);
      part.items += items;
      byOwner.set(owner.userId, part);
    }
    const owned = [...byOwner].map(([userId, { positions, items }]): Owned<S> => {
      const isWhole = positions.length === list.entries.length;
      const own = positions.map((position) => list.entries[position]);
      return {
        userId,
        items,
        request: isWhole ? request : { ...request, [list.name]: own },
        context: isWhole && userId === sender.userId ? context : ownName(context, sender.userId, positions),
      };
    });
    return { owned, rejected };
  }

  async #ownerOf(
    resource: Resource | null | undefined,
    sender: Sender,
  ): Promise<
    { readonly kind: 'user'; readonly userId: string } | { readonly kind: 'refused'; readonly reason: string }
  > {
    const { attribute, unknown, without_scope } = this.#config;
    const own = { kind: 'user', userId: sender.userId } as const;
    const values = (resource?.attributes ?? []).filter(({ key }) => key === attribute);
    if (values.length === 0) return own;
    const userId = values.length === 1 ? this.#users.get(textOf(values[0]) ?? '') : undefined;
    if (userId === sender.userId) return own;
    // The scope is checked first: without it, a key cannot find out which values name users.
    if (!grants(sender.scopes ?? [], 'delegate')) {
      if (without_scope === 'keep') return own;
      return {
        kind: 'refused',
        reason: `the API key lacks the scope "delegate" for the attribute "${attribute}"`,
      };
    }
    if (userId !== undefined && (await this.#isActive(userId))) return { kind: 'user', userId };
    if (unknown === 'keep') return own;
    return {
      kind: 'refused',
      reason: `the attribute "${attribute}" names no active user of receivers.otlp.tenant`,
    };
  }

  async #isActive(userId: string): Promise<boolean> {
    const find = async (): Promise<boolean> => {
      const user = await this.#accounts?.findUser(userId);
      return user !== undefined && user !== null && !user.disabled;
    };
    return (await this.#active?.answer(userId, find)) ?? false;
  }
}

interface Entry {
  readonly resource?: Resource | null | undefined;
}

/** The resources of a request, and the name of their list. */
function listOf(request: object): { readonly name: string; readonly entries: readonly Entry[] } {
  for (const name of ['resources', 'resourceSpans', 'resourceMetrics', 'resourceLogs'])
    if (name in request)
      return { name, entries: (request as Record<string, readonly Entry[] | null>)[name] ?? [] };
  return { name: 'resources', entries: [] };
}

function textOf(pair: KeyValue | undefined): string | undefined {
  return pair?.value?.stringValue ?? undefined;
}

function itemsOf(entry: object): number {
  const { scopes, scopeSpans, scopeMetrics, scopeLogs } = entry as Record<string, readonly object[] | null>;
  let items = 0;
  for (const scope of scopes ?? scopeSpans ?? scopeMetrics ?? scopeLogs ?? []) {
    const { spans, logRecords, metrics } = scope as Record<string, readonly object[] | null>;
    items += (spans ?? logRecords ?? []).length;
    for (const metric of (metrics ?? []) as readonly Metric[]) {
      const data =
        metric.gauge ?? metric.sum ?? metric.histogram ?? metric.exponentialHistogram ?? metric.summary;
      items += data?.dataPoints?.length ?? 0;
    }
  }
  return items;
}

/**
 * The batch gets a name that no client of the owner can send, since those contain no "/", and that differs if the request is split
 * differently after a change of the configuration.
 */
function ownName(context: ConsumeContext, sender: string, positions: readonly number[]): ConsumeContext {
  const { batch } = context;
  if (batch === undefined) return context;
  const hash = createHash('sha256').update(Uint32Array.from(positions)).digest('base64url').slice(0, 22);
  return { ...context, batch: { id: `${sender}/${hash}/${batch.id}` } };
}
