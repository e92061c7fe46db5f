import { createHash } from 'node:crypto';
import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Receipt, Refusal } from '../../component/consumer.js';
import type { Batches, TelemetrySignal } from '../../signal/batch.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { TraceRecord } from '../../signal/trace.js';
import type { Gateway, Gateways } from './gateways.js';
import { isUnreachable } from './http-client.js';

type AnyBatch = Batches[TelemetrySignal];
type Send = (part: AnyBatch, gateway: Gateway, context: ConsumeContext) => Promise<Receipt>;

/** What earlier attempts of a batch have reached, by position. */
interface Progress {
  readonly done: Set<number>;
  readonly refused: Refusal[];
}

/** Sends each run of a batch to its gateway. */
export class Balanced {
  readonly #gateways: Gateways;
  readonly #progress = new WeakMap<AnyBatch, Progress>();

  constructor(gateways: Gateways) {
    this.#gateways = gateways;
  }

  /**
   * One attempt. A repeated attempt of the same batch sends only what did not arrive before.
   *
   * @param send sends a part of the batch
   * @throws ConsumeError, retryable, if a part did not arrive; permanent if all parts were refused
   */
  async consume(
    signal: TelemetrySignal,
    batch: AnyBatch,
    context: ConsumeContext,
    send: Send,
  ): Promise<Receipt> {
    const keys = keysOf(signal, batch, context);
    const progress = this.#progress.get(batch) ?? { done: new Set(), refused: [] };
    this.#progress.set(batch, progress);
    const { done, refused } = progress;
    const failures: unknown[] = [];
    let refusal: ConsumeError | undefined;
    const failed = new Set<number>();
    const tried = new Set<Gateway>();
    for (;;) {
      const left = keys.flatMap((_, position) =>
        done.has(position) || failed.has(position) ? [] : position,
      );
      if (left.length === 0) break;
      const choose = this.#gateways.chooser(tried);
      if (choose === undefined) {
        if (tried.size === 0) failures.push(unavailable(this.#gateways.problem));
        break;
      }
      const byGateway = new Map<Gateway, number[]>();
      for (const position of left) {
        const gateway = choose(keys[position] ?? '');
        if (gateway === undefined) continue;
        const known = byGateway.get(gateway);
        if (known === undefined) byGateway.set(gateway, [position]);
        else known.push(position);
      }
      await Promise.all(
        [...byGateway].map(async ([gateway, positions]) => {
          const isWhole = positions.length === keys.length;
          const part = isWhole ? batch : partOf(batch, positions);
          try {
            await send(part, gateway, isWhole ? context : nameOfPart(context, positions));
            for (const position of positions) done.add(position);
          } catch (error) {
            if (isUnreachable(error)) {
              // Nothing of it was sent: the next gateway gets it at once.
              this.#gateways.noteDown(gateway);
              tried.add(gateway);
              failures.push(error);
              return;
            }
            if (error instanceof ConsumeError && !error.retryable) {
              refusal = error;
              for (const index of positions) {
                done.add(index);
                refused.push({ index, reason: error.message });
              }
              return;
            }
            failures.push(error);
            for (const position of positions) failed.add(position);
          }
        }),
      );
    }
    if (done.size < keys.length) throw (failures.at(-1) ?? unavailable(this.#gateways.problem)) as Error;
    if (refusal !== undefined && refused.length === keys.length) throw refusal as Error;
    return { accepted: keys.length - refused.length, refused };
  }
}

/** Items with the same key go to the same gateway. Metrics belong to no run: a batch of them stays together. */
function keysOf(signal: TelemetrySignal, { items }: AnyBatch, { batch }: ConsumeContext): readonly string[] {
  switch (signal) {
    case 'traces':
      return (items as readonly TraceRecord[]).map(({ trace }) => trace.trace_id);
    case 'logs':
      return (items as readonly LogRecord[]).map((log) => log.trace_id ?? log.id);
    case 'metrics':
      return items.map(() => batch?.id ?? '');
  }
}

function partOf(batch: AnyBatch, positions: readonly number[]): AnyBatch {
  return { ...batch, items: positions.map((position) => batch.items[position]) } as AnyBatch;
}

/** Each part has a stable batch id, always the same for the same items. */
function nameOfPart(context: ConsumeContext, positions: readonly number[]): ConsumeContext {
  const { batch } = context;
  if (batch === undefined) return context;
  const hash = createHash('sha256').update(batch.id).update(Uint32Array.from(positions));
  return { ...context, batch: { id: hash.digest('base64url') } };
}

function unavailable(message: string): ConsumeError {
  return new ConsumeError(message, { code: 'overloaded', retryable: true });
}
