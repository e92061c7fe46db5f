import type { RunId, SpanIds } from '../../../runs/stored-runs.js';
import type { Clock, Logger } from '../../../component/telemetry.js';
import { formatUuid, wordsOfKey } from '../../../worker/uuid-words.js';
import { SPANS } from '../../schema/tables.js';
import { selectList } from '../../schema/table.js';
import { conditionsOn, narrowed, ofCommits, type OfCommits } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import type { IdIndex } from '../index/id-index.js';
import { idInTrace } from '../index/indexes.js';
import { newest } from '../segments/relation.js';
import { LoggedByUser } from './logged-by-user.js';
import type { Capture } from '../segments/segment.js';
import { FACT_COLUMNS } from '../segments/fact-columns.js';
import type { TraceState } from './trace-state.js';
import { pickRow, spanStateOf } from '../segments/stored-rows.js';
import type { TruncatedSpans } from '../../../runs/spans/truncated-spans.js';

/** Tracks the stored spans of truncated runs: looks up the spans of a commit, and records those that it wrote. */
export class TruncatedRuns {
  readonly #connection: Connection;
  readonly #ids: IdIndex;
  readonly #logger: Logger;
  readonly #logged: LoggedByUser;
  readonly #id = new Uint32Array(4);
  readonly #words = new Uint32Array(4);
  /** Runs truncated since the start. */
  count = 0;

  /**
   * @param connection the writer's
   * @param ids ids of the spans of all truncated runs
   */
  constructor(connection: Connection, ids: IdIndex, { logger, clock }: { logger: Logger; clock: Clock }) {
    this.#logger = logger;
    this.#logged = new LoggedByUser(clock);
    this.#connection = connection;
    this.#ids = ids;
  }

  /** Implements `StoredRuns.readSpans`. */
  async read(
    { tenant, words, offset }: RunId,
    state: TraceState,
    spans: readonly SpanIds[],
    capture: Capture,
  ): Promise<void> {
    const { truncated } = state;
    if (truncated === null) return;
    const found = new Set<string>();
    const seqs = new Set<number>();
    for (const ids of spans) {
      for (let row = ids.from; row < ids.to; row++) {
        idInTrace(words, offset, ids.words, row * 4, this.#id);
        const seq = this.#ids.find(tenant, this.#id, 0);
        if (seq === 0) continue;
        seqs.add(seq);
        found.add(`'${formatUuid(ids.words, row * 4)}'::UUID`);
      }
    }
    if (found.size === 0) return;
    const isOne = `tenant = ${tenant} AND trace_id = '${formatUuid(words, offset)}'::UUID AND span_id IN (${[...found].join(', ')})`;
    const where = placesOf(seqs, truncated, state).map((commits) => narrowed(commits, isOne));
    const rows = await this.#connection.rows(
      `SELECT seq, line, node_no, ${selectList(FACT_COLUMNS)} FROM ${newest(capture, SPANS, where)}`,
    );
    for (const row of rows) truncated.addStored(spanStateOf(row, pickRow(row, FACT_COLUMNS)));
  }

  /** After a commit: records the commit of the written spans; if the commit truncated the run, of all its spans. */
  committed(seq: number, { tenant, words, offset }: RunId, run: TruncatedSpans): void {
    if (run.truncatedSeq === seq) {
      this.count++;
      const runs = this.#logged.happened(tenant);
      if (runs > 0) this.#log({ tenant, runs, trace: formatUuid(words, offset), spans: run.followed });
    }
    for (const key of run.takeChangedKeys()) {
      wordsOfKey(key, this.#words);
      idInTrace(words, offset, this.#words, 0, this.#id);
      this.#ids.put(tenant, this.#id, 0, seq);
    }
  }

  /** @param found number of runs of a user truncated since the last message; `trace` is the last of them */
  #log(found: { tenant: number; runs: number; trace: string; spans: number }): void {
    this.#logger.warn(
      found,
      'A run exceeded max_run_spans or the budget of its user. New spans are stored and its usage adds their model calls, but its agent, session and service map no longer update. Logged at most every ten minutes per user.',
    );
  }
}

/**
 * The commits to read. For spans up to the truncation only the commit of the truncation is recorded, so all earlier commits of the
 * run are read.
 */
function placesOf(
  seqs: ReadonlySet<number>,
  { truncatedSeq }: TruncatedSpans,
  { commits }: TraceState,
): OfCommits[] {
  const later = [...seqs].filter((seq) => seq !== truncatedSeq);
  const places = later.length === 0 ? [] : [ofCommits(later)];
  if (later.length === seqs.size) return places;
  return [...places, ...conditionsOn([commits.upTo(truncatedSeq)])];
}
