import { ConsumeError } from '../../../component/consume-error.js';
import type { Reads } from '../client/reads.js';
import { sizeOf, tracesOf, type ChangeAnswer, type RunChange } from './run-change.js';
import { traceKey, MessagePlaces, sentTraces } from './sent-traces.js';
import { Uncounted, type RunWrites } from './write-runs.js';
import type { BatchChange } from './run-change.js';
import { NodeNumbers } from './node-names.js';
import { readFacts } from './stored-facts.js';

export interface GroupLimits {
  /** Rows of a group: spans and headers. A single batch may have more. */
  readonly rows: number;
  /** Maximum of concurrent groups. */
  readonly underWay: number;
  /** Maximum bytes of queued batches; beyond it, writes are refused. */
  readonly waitingBytes: number;
}

interface Waiting {
  readonly change: RunChange;
  /** The applied usage of its month before its items were counted; absent if they were not counted. */
  readonly appliedUsage?: number;
  readonly resolve: (answer: ChangeAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** A group being written. */
interface UnderWay {
  readonly traces: ReadonlySet<string>;
  /** Runs with a message in the group: other changes to these runs must wait. */
  readonly spokenOf: ReadonlySet<string>;
}

/**
 * Groups queued changes for writing, up to a limit of rows. An insert costs the engine as much as thousands of rows, so a longer queue
 * makes larger groups.
 */
export class RunQueue {
  readonly #writes: RunWrites;
  readonly #reads: Reads;
  readonly #limits: GroupLimits;
  #waiting: Waiting[] = [];
  #bytes = 0;
  readonly #underWay = new Set<UnderWay>();
  /** Number of changes whose new items are being counted. */
  #counting = 0;
  #idle: (() => void) | null = null;

  constructor(writes: RunWrites, reads: Reads, limits: GroupLimits) {
    this.#writes = writes;
    this.#reads = reads;
    this.#limits = limits;
  }

  /** @throws ConsumeError `overloaded` if the queue is full, and any error of the write */
  async write(change: RunChange): Promise<ChangeAnswer> {
    const bytes = change.kind === 'batch' ? change.batch.bytes : 0;
    if (this.#bytes > this.#limits.waitingBytes)
      throw new ConsumeError('The write queue is full (extensions.clickhouse.max_queue_size).', {
        code: 'overloaded',
        retryable: true,
        retryAfterMs: 1000,
      });
    this.#bytes += bytes;
    try {
      return await new Promise<ChangeAnswer>((resolve, reject) => {
        this.#waiting.push({ change, resolve, reject });
        // Groups all changes of this turn of the event loop.
        setImmediate(() => {
          this.#begin();
        });
      });
    } finally {
      this.#bytes -= bytes;
    }
  }

  /** Resolves when the queue is empty and no write is running. */
  async drained(): Promise<void> {
    while (this.#isBusy) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  get #isBusy(): boolean {
    return this.#waiting.length > 0 || this.#underWay.size > 0 || this.#counting > 0;
  }

  #notifyIdle(): void {
    if (this.#isBusy) return;
    this.#idle?.();
    this.#idle = null;
  }

  #begin(): void {
    while (this.#underWay.size < this.#limits.underWay) {
      const group = this.#next();
      if (group.length === 0) return;
      void this.#write(group);
    }
  }

  /**
   * The next group. A message about a run never shares a group with other changes to that run, and changes to a run keep their order: the
   * message counts only for an existing run, and its answer reports the state after it.
   */
  #next(): Waiting[] {
    const group: Waiting[] = [];
    const traces = new Set<string>();
    const spokenOf = new Set<string>();
    let rows = 0;
    for (const waiting of this.#waiting) {
      const { change } = waiting;
      const size = sizeOf(change);
      const keys = keysOf(change);
      const isFull = group.length > 0 && rows + size > this.#limits.rows;
      const waits =
        change.kind === 'batch'
          ? keys.some((key) => spokenOf.has(key) || this.#isUnderWay(key, 'spokenOf'))
          : keys.some((key) => traces.has(key) || this.#isUnderWay(key, 'traces'));
      if (isFull || waits) break;
      group.push(waiting);
      rows += size;
      for (const key of keys) {
        traces.add(key);
        if (change.kind !== 'batch') spokenOf.add(key);
      }
    }
    this.#waiting = this.#waiting.slice(group.length);
    return group;
  }

  #isUnderWay(key: string, as: keyof UnderWay): boolean {
    return [...this.#underWay].some((group) => group[as].has(key));
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    const keysOfAll = (changes: readonly Waiting[]) =>
      new Set(changes.flatMap(({ change }) => keysOf(change)));
    const underWay: UnderWay = {
      traces: keysOfAll(group),
      spokenOf: keysOfAll(group.filter(({ change }) => change.kind !== 'batch')),
    };
    this.#underWay.add(underWay);
    try {
      const answers = await this.#writes.write(group.map(({ change }) => change));
      group.forEach((waiting, i) => {
        const answer = answers[i];
        if (answer === undefined || answer instanceof Error) this.#refuse(waiting, answer);
        else if (answer instanceof Uncounted) this.#count(waiting, answer.applied);
        else waiting.resolve(answer);
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#underWay.delete(underWay);
      this.#begin();
      this.#notifyIdle();
    }
  }

  /** Counts a change over its limit again if other writes were applied since: they may have contained the same items. */
  #refuse(waiting: Waiting, error: ConsumeError | undefined): void {
    const used = error?.usage?.used;
    if (used === undefined || waiting.appliedUsage === undefined || waiting.appliedUsage === used)
      waiting.reject(error);
    else this.#count(waiting, used, error);
  }

  /**
   * Counts the new items of a change that may exceed its limit.
   *
   * @param appliedUsage usage of its month that was already applied
   * @param refusal the error if the count has not decreased since the last time
   */
  #count({ change, resolve, reject }: Waiting, appliedUsage: number, refusal?: ConsumeError): void {
    if (change.kind !== 'batch') return;
    this.#counting++;
    void exactItems(this.#reads, change)
      .then((items) => {
        if (refusal !== undefined && change.exactItems !== undefined && items >= change.exactItems) {
          reject(refusal);
          return;
        }
        this.#waiting.push({ change: { ...change, exactItems: items }, appliedUsage, resolve, reject });
        this.#begin();
      }, reject)
      .finally(() => {
        this.#counting--;
        this.#notifyIdle();
      });
  }
}

function keysOf(change: RunChange): string[] {
  return tracesOf(change).map(({ tenant, traceId }) => traceKey(tenant, traceId));
}

/** The number of new items in a batch, compared with the store. A concurrent write may add some of them. */
async function exactItems(reads: Reads, change: BatchChange): Promise<number> {
  const wanted = new Map(tracesOf(change).map((trace) => [traceKey(trace.tenant, trace.traceId), trace]));
  const facts = await readFacts(reads, [...wanted.values()], new Map(), new NodeNumbers());
  const known = new Map(
    facts.map(({ tenant, traceId, messages, spans }) => [
      traceKey(tenant, traceId),
      {
        isThere: messages.some(({ kind }) => kind === 'header'),
        ids: new Set(spans.map(({ row }) => row.span_id)),
      },
    ]),
  );
  let items = 0;
  for (const { tenant, traceId, spans } of sentTraces(change.batch, new MessagePlaces(0))) {
    const trace = known.get(traceKey(tenant, traceId));
    if (trace === undefined) continue;
    if (spans.length === 0 && !trace.isThere) items++;
    trace.isThere = true;
    for (const { row } of spans) {
      if (!trace.ids.has(row.span_id)) items++;
      trace.ids.add(row.span_id);
    }
  }
  return items;
}
