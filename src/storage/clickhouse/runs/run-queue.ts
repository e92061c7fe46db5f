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
  /** Groups under way at the same time. */
  readonly underWay: number;
  /** Bytes of batches that wait; more is refused. */
  readonly waitingBytes: number;
}

interface Waiting {
  readonly change: RunChange;
  /** What was settled of its month before its items were counted; absent: they were not. */
  readonly settled?: number;
  readonly resolve: (answer: ChangeAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** A group under way. */
interface UnderWay {
  readonly traces: ReadonlySet<string>;
  /** Those of which somebody says something: what else comes of them has to wait. */
  readonly spokenOf: ReadonlySet<string>;
}

/**
 * Makes groups of what is to be written: whatever waits when there is room for another one goes, up to a limit. An insert costs the engine
 * as much as thousands of rows, so the more waits, the larger groups are.
 */
export class RunQueue {
  readonly #writes: RunWrites;
  readonly #reads: Reads;
  readonly #limits: GroupLimits;
  #waiting: Waiting[] = [];
  #bytes = 0;
  readonly #underWay = new Set<UnderWay>();
  /** How many are looked at for what they bring that is new. */
  #counting = 0;
  #idle: (() => void) | null = null;

  constructor(writes: RunWrites, reads: Reads, limits: GroupLimits) {
    this.#writes = writes;
    this.#reads = reads;
    this.#limits = limits;
  }

  /** @throws ConsumeError `overloaded` where too much waits already, and whatever becomes of the write */
  async write(change: RunChange): Promise<ChangeAnswer> {
    const bytes = change.kind === 'batch' ? change.batch.bytes : 0;
    if (this.#bytes > this.#limits.waitingBytes)
      throw new ConsumeError(
        'More is waiting for ClickHouse than extensions.clickhouse.max_queue_size allows.',
        {
          code: 'overloaded',
          retryable: true,
          retryAfterMs: 1000,
        },
      );
    this.#bytes += bytes;
    try {
      return await new Promise<ChangeAnswer>((resolve, reject) => {
        this.#waiting.push({ change, resolve, reject });
        // Whatever comes in this turn of the loop goes together.
        setImmediate(() => {
          this.#begin();
        });
      });
    } finally {
      this.#bytes -= bytes;
    }
  }

  /** Resolves when nothing waits and nothing is under way. */
  async settled(): Promise<void> {
    while (this.#isBusy) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  get #isBusy(): boolean {
    return this.#waiting.length > 0 || this.#underWay.size > 0 || this.#counting > 0;
  }

  #tellIdle(): void {
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
   * The next group. What somebody says of a run is in a group without anything else of that run; it waits for what came before it, and what
   * comes after it waits for it: it counts only for a run that is there, and its answer tells what is so after it.
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
      const mustWait =
        change.kind === 'batch'
          ? keys.some((key) => spokenOf.has(key) || this.#isUnderWay(key, 'spokenOf'))
          : keys.some((key) => traces.has(key) || this.#isUnderWay(key, 'traces'));
      if (isFull || mustWait) break;
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
        else if (answer instanceof Uncounted) this.#count(waiting, answer.settled);
        else waiting.resolve(answer);
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#underWay.delete(underWay);
      this.#begin();
      this.#tellIdle();
    }
  }

  /** What passes its limit is counted again where others have settled something since it was counted: it may be the same that they brought. */
  #refuse(waiting: Waiting, error: ConsumeError | undefined): void {
    const used = error?.usage?.used;
    if (used === undefined || waiting.settled === undefined || waiting.settled === used)
      waiting.reject(error);
    else this.#count(waiting, used, error);
  }

  /**
   * It may pass its limit: how much it brings that is new has to be known.
   *
   * @param settled of its month
   * @param refusal what is answered where it brings no less than when it was counted last
   */
  #count({ change, resolve, reject }: Waiting, settled: number, refusal?: ConsumeError): void {
    if (change.kind !== 'batch') return;
    this.#counting++;
    void exactItems(this.#reads, change)
      .then((items) => {
        if (refusal !== undefined && change.exactItems !== undefined && items >= change.exactItems) {
          reject(refusal);
          return;
        }
        this.#waiting.push({ change: { ...change, exactItems: items }, settled, resolve, reject });
        this.#begin();
      }, reject)
      .finally(() => {
        this.#counting--;
        this.#tellIdle();
      });
  }
}

function keysOf(change: RunChange): string[] {
  return tracesOf(change).map(({ tenant, traceId }) => traceKey(tenant, traceId));
}

/** How many items of a batch are new, by what is stored now. Another write may bring some of them meanwhile. */
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
