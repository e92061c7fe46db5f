import { nameOfPart, type Sender, type Tenants } from '../../auth/tenants.js';
import type { ConsumeContext } from '../../component/consumer.js';
import type { KeyValue, Metric, Resource } from '../../otlp/wire/requests.js';
import type { TelemetrySignal } from '../../signal/batch.js';
import type { ReceivedRequests } from './decode.js';

/** The part of a request that belongs to one user. */
export interface Owned<S extends TelemetrySignal> {
  readonly userId: string;
  readonly request: ReceivedRequests[S];
  readonly context: ConsumeContext;
  /** Number of spans, points or records. */
  readonly items: number;
}

/** Finds whose data the resources of a request are (`tenant` in the configuration): see tenants.md. */
export class Owners {
  readonly #tenants: Tenants;

  constructor(tenants: Tenants) {
    this.#tenants = tenants;
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
        context:
          isWhole && userId === sender.userId ? context : nameOfPart(context, sender.userId, positions),
      };
    });
    return { owned, rejected };
  }

  async #ownerOf(resource: Resource | null | undefined, sender: Sender) {
    const values = (resource?.attributes ?? []).filter(({ key }) => key === this.#tenants.attribute);
    return this.#tenants.ownerOf(values.map(textOf), sender);
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

function textOf({ value }: KeyValue): string | undefined {
  return value?.stringValue ?? undefined;
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
