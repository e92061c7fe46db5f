import { LRUCache } from 'lru-cache';
import { notOpen } from '../contracts/errors.js';
import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import type { Clock } from '../../component/telemetry.js';
import type { TracesBatch } from '../../signal/batch.js';
import type { AlertStats, PastStats } from '../contracts/alerts.js';
import { CallOrder } from '../shared/call-order.js';
import type { ControlStore } from '../contracts/control-store.js';
import type { EncodedBatch } from '../contracts/telemetry-writer.js';
import type { ScoreRow } from '../incoming/score-rows.js';
import { PromptNumbers } from '../shared/prompt-numbers.js';
import { emitScores } from '../shared/run-events.js';
import type { LocalChangeFeed } from '../shared/local-change-feed.js';
import type { MeasuredBytes } from '../shared/measured-bytes.js';
import { KnownUsers, type StoreUserLimits } from '../shared/store-user-limits.js';
import { Observations } from './alerts/observations.js';
import { PastReads } from './alerts/past-stats.js';
import type { ClickHouseOptions } from './clickhouse-options.js';
import type { StoreHandle } from './client/store-handle.js';
import type { Reads } from './client/reads.js';
import { AgentNames } from './names/agent-names.js';
import { AgentReads } from './queries/agent-reads.js';
import { MapReads } from './queries/map-reads.js';
import { ModelReads } from './queries/model-reads.js';
import { PromptReads } from './queries/prompt-reads.js';
import { RunReads } from './queries/run-reads.js';
import { GroupReads } from './queries/run-groups.js';
import { ScoreReads } from './queries/score-groups.js';
import { SeriesReads } from './queries/series-reads.js';
import { SessionReads } from './queries/session-reads.js';
import { UsageReads } from './queries/usage-reads.js';
import type { Micros } from '../../signal/time.js';
import { admitItems, type AdmittedItems, type NewItems, type WrittenBatch } from './runs/count-items.js';
import { insertsBy } from './runs/insert-rows.js';
import type { ChangeAnswer, RunChange } from './runs/run-change.js';
import { rebuildMap, type RebuildParts } from './runs/rebuild-map.js';
import { RunQueue } from './runs/run-queue.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import {
  finishLeftWrites,
  forgetEndedWrites,
  forgetOldNames,
  timeOutIdleRuns,
  type UpkeepParts,
} from './runs/run-upkeep.js';
import { emitApplied, type WantedOfTenant } from './runs/applied-events.js';
import { TracesWriter, type WriterParts } from './runs/traces-writer.js';
import type { WantedTrace } from './runs/stored-facts.js';
import { RunWrites } from './runs/write-runs.js';

/** Lease of a write; after it expires another process completes it. */
const LEASE_MS = 30_000;
/** Maximum of agent names per user, the same as in the embedded store. */
const MOST_AGENTS = 10_000;
/** Maximum of concurrent groups. */
const GROUPS_UNDER_WAY = 2;
/** Size of the cache from user number to id. */
const REMEMBERED = 10_000;

/** State of an open store. */
interface Opened {
  readonly control: ControlStore;
  readonly store: string;
  readonly names: AgentNames;
  readonly users: KnownUsers;
  readonly prompts: PromptNumbers;
  readonly queue: RunQueue;
  readonly writer: TracesWriter;
  readonly upkeep: UpkeepParts;
  readonly rebuild: RebuildParts;
}

/** Writes runs and everything derived from them. */
export class RunStore {
  readonly runs: RunReads;
  readonly agents: AgentReads;
  readonly models: ModelReads;
  readonly series: SeriesReads;
  readonly groups: GroupReads;
  readonly sessions: SessionReads;
  readonly scores: ScoreReads;
  readonly map: MapReads;
  readonly prompts: PromptReads;
  readonly stats: AlertStats;
  readonly past: PastStats;
  readonly usage: UsageReads;
  readonly stored: MeasuredBytes;
  readonly #handle: StoreHandle;
  readonly #arrivals: LocalChangeFeed;
  readonly #options: Pick<ClickHouseOptions, 'groupRows' | 'maxQueueBytes'>;
  readonly #clock: Clock;
  readonly #scores: WriterParts['scores'];
  readonly #order = new CallOrder();
  readonly #ids = new LRUCache<number, string>({ max: REMEMBERED });
  #opened: Opened | null = null;

  constructor(
    handle: StoreHandle,
    arrivals: LocalChangeFeed,
    options: Pick<ClickHouseOptions, 'groupRows' | 'maxQueueBytes'>,
    {
      clock,
      stored,
      scores,
    }: { readonly clock: Clock; readonly stored: MeasuredBytes } & Pick<WriterParts, 'scores'>,
  ) {
    this.stored = stored;
    this.#scores = scores;
    this.#handle = handle;
    this.#arrivals = arrivals;
    this.#options = options;
    this.#clock = clock;
    const reads: Reads = {
      rows: async (...args) => await handle.connection.rows(...args),
      pages: (...args) => handle.connection.pages(...args),
    };
    const names: Pick<AgentNames, 'of'> = { of: async (...args) => await this.#open().names.of(...args) };
    const prompts: Pick<ControlStore['prompts'], 'findNumber' | 'numbersOf' | 'withNumbers'> = {
      findNumber: async (...args) => await this.#open().control.prompts.findNumber(...args),
      numbersOf: async (...args) => await this.#open().control.prompts.numbersOf(...args),
      withNumbers: async (...args) => await this.#open().control.prompts.withNumbers(...args),
    };
    const queue = { write: async (change: RunChange) => await this.#write(change) };
    const tenantOf = async (userId: string): Promise<number> => await handle.tenantOf(userId);
    const parts = { reads, names, prompts, queue, tenantOf };
    this.runs = new RunReads({
      ...parts,
      now: () => clock.now(),
      changed: (userId, traceId) => {
        arrivals.traceChanged(userId, traceId);
      },
      inOrder: async (userId, send) =>
        await this.#order.send(userId, async () => await tenantOf(userId), send),
    });
    this.agents = new AgentReads(parts, tenantOf);
    this.models = new ModelReads(parts, tenantOf);
    this.series = new SeriesReads(parts, tenantOf);
    this.groups = new GroupReads(parts, tenantOf);
    this.sessions = new SessionReads(parts, tenantOf);
    this.scores = new ScoreReads(parts);
    this.map = new MapReads({
      ...parts,
      command: async (sql) => {
        await handle.connection.command(sql);
      },
      now: () => clock.now(),
      rebuild: async ({ dryRun }) => await rebuildMap(this.#open().rebuild, dryRun),
    });
    this.prompts = new PromptReads(parts);
    const observations = new Observations({
      checkOpen: () => {
        this.#open();
      },
      reads,
      names,
      findTenant: async (userId) => (await this.#open().users.tenants([userId])).get(userId) ?? null,
    });
    this.stats = observations;
    this.past = new PastReads(reads, observations);
    this.usage = new UsageReads(() => {
      const { control, store } = this.#open();
      return { book: control.writes, store, tenantOf };
    });
  }

  /** @param store its identity @param owner a unique name of this process, never reused */
  open(control: ControlStore, store: string, owner: string): void {
    const { connection } = this.#handle;
    const users = new KnownUsers(control, this.#clock);
    const prompts = new PromptNumbers(control, this.#clock);
    const names = new AgentNames(control.agents, store, this.#clock);
    const parts = { reads: connection, book: control.writes, store, owner, leaseMs: LEASE_MS };
    const writes = new RunWrites({
      ...parts,
      inserts: insertsBy(connection),
      agents: names,
      mostAgents: MOST_AGENTS,
      onApplied: async (applied) => {
        await emitApplied(applied, control.events, async (tenant) => await this.#wantedOf(tenant));
      },
    });
    const { groupRows, maxQueueBytes } = this.#options;
    const queue = new RunQueue(writes, connection, {
      rows: groupRows,
      underWay: GROUPS_UNDER_WAY,
      waitingBytes: maxQueueBytes,
    });
    const writer = new TracesWriter({
      queue,
      order: this.#order,
      limitsOf: (userId) => users.known(userId) ?? users.find(userId),
      promptNumbers: (userId, versions) => prompts.known(userId, versions) ?? prompts.find(userId, versions),
      arriving: (userId, traceIds) => this.#arrivals.tracesOf(userId, () => traceIds),
      stored: this.stored,
      scores: this.#scores,
      sent: (userId, tenant) => {
        this.#ids.set(tenant, userId);
      },
    });
    const ended = async (runs: readonly WantedTrace[]): Promise<void> => {
      for (const { tenant, traceId } of runs) {
        const user = await this.#wantedOf(tenant);
        if (user !== null) this.#arrivals.traceChanged(user.userId, traceId);
      }
    };
    const upkeep = { ...parts, leases: control.leases, queue, writes, ended };
    const rebuild = {
      ...upkeep,
      inserts: insertsBy(connection),
      now: () => Math.floor(this.#clock.now() / MICROS_PER_MS),
      userOf: async (tenant: number) =>
        (await control.accounts.findTenants([tenant])).get(tenant) ?? String(tenant),
    };
    this.#opened = { control, store, names, users, prompts, queue, writer, upkeep, rebuild };
  }

  /** Resolves when all started writes are done. */
  async idle(): Promise<void> {
    await this.#order.sent();
    await this.#opened?.queue.drained();
    await this.map.idle();
  }

  close(): void {
    this.#opened?.users.close();
    this.#opened?.prompts.close();
    this.#opened = null;
  }

  /** Limits of a user. @throws ConsumeError; Error for an unknown user */
  async limitsOf(userId: string): Promise<StoreUserLimits> {
    const { users } = this.#open();
    return users.known(userId) ?? (await users.find(userId));
  }

  async traces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt> {
    return await this.#open().writer.write(batch, context);
  }

  async encodedTraces(batch: EncodedBatch, context: ConsumeContext): Promise<Receipt> {
    return await this.#open().writer.writeEncoded(batch, context);
  }

  /**
   * Registers items before they are written, all of them new; null if they have neither a quota nor a name.
   *
   * @param name of their batch: `nameOfBatch`
   * @throws ConsumeError
   */
  async admit(
    batch: Pick<TracesBatch, 'tenant' | 'quota'>,
    at: Micros,
    items: number,
    name: string | null,
  ): Promise<AdmittedItems | WrittenBatch | null> {
    if (items === 0 || (batch.quota === undefined && name === null)) return null;
    return await this.#admit(batch, { at, items, isExact: true, name });
  }

  /**
   * The same for a named batch whose number of accepted items is not determined yet.
   *
   * @returns null if the decision depends on that number; call `admit` then
   */
  async claim(
    batch: Pick<TracesBatch, 'tenant' | 'quota'>,
    at: Micros,
    most: number,
    name: string,
  ): Promise<AdmittedItems | WrittenBatch | null> {
    return await this.#admit(batch, { at, items: most, isExact: false, name });
  }

  async #admit(
    { tenant: userId, quota }: Pick<TracesBatch, 'tenant' | 'quota'>,
    counted: Pick<NewItems, 'at' | 'items' | 'isExact' | 'name'>,
  ): Promise<AdmittedItems | WrittenBatch | null> {
    const { upkeep } = this.#open();
    const { tenant, monthlyLimit } = await this.limitsOf(userId);
    const limit = monthlyLimit ?? quota?.monthly_items ?? 0;
    const limits = quota === undefined ? null : { at: counted.at, limit: limit === 0 ? Infinity : limit };
    return await admitItems(upkeep, { ...counted, tenant, limits });
  }

  /** Finishes the writes of dead processes and times out idle runs. Call it every few seconds. */
  async runMaintenance(): Promise<void> {
    const { upkeep } = this.#open();
    await finishLeftWrites(upkeep);
    await timeOutIdleRuns(upkeep, this.#clock.now());
    await forgetEndedWrites(upkeep);
  }

  /** Finishes the writes of dead processes. */
  async finishLeft(): Promise<void> {
    await finishLeftWrites(this.#open().upkeep);
  }

  /** Times out runs that are idle at `at`, a limited number per call. @returns how many */
  async timeOut(at: Micros): Promise<number> {
    return await timeOutIdleRuns(this.#open().upkeep, at);
  }

  /** Writes a change of an import. */
  async fill(change: RunChange): Promise<void> {
    await this.#write(change);
  }

  /** Emits the events of stored scores. */
  async emitScores(tenant: number, scores: readonly ScoreRow[], at: Micros): Promise<void> {
    const user = await this.#wantedOf(tenant);
    if (user !== null) await emitScores(this.#open().control.events, user, scores, at);
  }

  /** Removes old batch names. Call it about once an hour. */
  async forgetNames(): Promise<void> {
    await forgetOldNames(this.#open().upkeep);
  }

  async #write(change: RunChange): Promise<ChangeAnswer> {
    return await this.#open().queue.write(change);
  }

  /** Null for a deleted user. */
  async #wantedOf(tenant: number): Promise<WantedOfTenant | null> {
    const { control, users } = this.#open();
    const userId = this.#ids.get(tenant) ?? (await control.accounts.findTenants([tenant])).get(tenant);
    if (userId === undefined) return null;
    this.#ids.set(tenant, userId);
    const { wanted } = users.known(userId) ?? (await users.find(userId));
    return { userId, wanted };
  }

  #open(): Opened {
    if (this.#opened !== null) return this.#opened;
    throw notOpen();
  }
}
