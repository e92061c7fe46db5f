import { inTraceOrder } from '../../shared/trace-order.js';
import { Transfer } from '../../../worker/thread-protocol.js';
import type { PageRange } from '../../contracts/paging.js';
import { removedMeanwhile } from '../../contracts/errors.js';
import type {
  FieldValue,
  RunCursor,
  RunFilter,
  RunPreview,
  StoredScore,
  StoredTrace,
  WantedValues,
} from '../../contracts/runs.js';
import { AGENT_NODE, NO_NODE } from '../../../signal/service-map.js';
import type { Agents } from '../stats/agents.js';
import type { RunStats } from '../stats/run-stats.js';
import type { IdIndex } from '../index/id-index.js';
import type { Connection } from '../files/connection.js';
import type { ReadContext } from '../segments/read-context.js';
import type { ParallelPart } from '../segments/connection-pool.js';
import type { Capture } from '../segments/segment.js';
import { TraceId } from '../segments/trace-id.js';
import { keysAfter, listRunsAfter, type FollowedSearch, type FollowingPart } from './following-runs.js';
import type { SpanPosition } from '../../contracts/search.js';
import type { StoredAttributes } from '../../../signal/attributes.js';
import type { AttributeNeedle } from '../../shared/attribute-search.js';
import type { Needles, SearchedPage, SearchStep, TextOfRun } from '../../shared/run-search.js';
import {
  attributesInPieces,
  mayHaveTerms,
  piecesOfRuns,
  searchStep,
  textsInPieces,
  textsOfOneRun,
  textsOfRuns,
  textsOfPayload,
  type PiecePlace,
  type TextsOfRuns,
} from './searched-runs.js';
import type { PlacedRun } from './previews.js';
import { PreviewCache } from './preview-cache.js';
import { commitsWith } from '../index/text-filters.js';
import { AgentsWithSpans } from './agents-with-spans.js';
import type { NodeNames } from './wanted-spans.js';
import { listRuns, orderOf, readRunsAt, type RunsPart } from './runs.js';
import {
  readCommits,
  readHeader,
  readSpanRows,
  type SpanCursor,
  type SpanRows,
  type SpansOfTrace,
} from './trace.js';
import { readScores } from './scores.js';
import { readValues } from './run-values.js';
import { readSpan, shortSpanPage, wholeSpanPage, type WholeSpan, type WholeSpanPage } from './whole-span.js';
import { summaryPage, spanPage, type SpanPage } from './span-json.js';
import { withEvents } from './with-events.js';

/** The state in memory that reads of runs use. */
interface Known {
  readonly agents: Agents;
  readonly stats: RunStats;
  /** Which traces are stored, with the commits of their headers. */
  readonly traces: IdIndex;
  /** The names of the service map's nodes. */
  readonly services: NodeNames;
  /** Which traces have GenAI events among their log records. */
  readonly withEvents: IdIndex;
}

/** The header of a trace, and the first page of its spans. */
export interface FoundTrace<Page> {
  readonly trace: Omit<StoredTrace, 'spans'>;
  readonly page: Page;
}

/** The header of a trace, and the first page of its spans without payloads. */
export interface FoundSummary extends FoundTrace<SpanPage> {
  /** The last commit that the answer includes. */
  readonly seq: number;
}

/** Converts rows of spans into a page. */
type MakePage<Page> = (traceId: string, rows: SpanRows) => Page;

/** With filters the runs of a step are in separate commits, so it covers fewer. */
const MOST_NARROWED = 3200;

/** Spans on a page without payloads, which is small. */
const SUMMARY_SPANS = 2000;

/** JSON, unless log records add events to some of the spans. */
export type ShownPage = SpanPage | WholeSpanPage;

/** The connections and the capture for reading a trace's spans. */
interface Place {
  readonly connection: Connection;
  readonly capture: Capture;
  readonly runParallel: ParallelPart;
  readonly tenant: number;
  readonly id: TraceId;
}

/** The reads of the contract `Runs`, divided into messages of the store thread. */
export class RunReads {
  readonly #known: Known;
  readonly #previews = new PreviewCache();
  readonly #agentsWith = new AgentsWithSpans();

  constructor(known: Known) {
    this.#known = known;
  }

  async read(by: ReadContext, traceId: string): Promise<Transfer<FoundTrace<ShownPage>> | null> {
    const found = await this.#trace(by, traceId, shownPage);
    return found && new Transfer(found, buffersOf(found.page));
  }

  /** The header of a trace, and the first page of its spans with all stored fields. */
  async readWhole(by: ReadContext, traceId: string): Promise<FoundTrace<WholeSpanPage> | null> {
    return await this.#trace(by, traceId, wholeSpanPage);
  }

  /** A trace without the payloads of its spans. @param since only spans that were added or changed after this commit; 0: all */
  async traceSummary(
    by: ReadContext,
    traceId: string,
    since: number,
  ): Promise<Transfer<FoundSummary> | null> {
    const { agents, traces } = this.#known;
    const { tenant } = by;
    const id = new TraceId(traceId);
    if (traces.find(tenant, id.words, 0) === 0) return null;
    return await by.short(async (connection, capture, runParallel) => {
      const seq = traces.find(tenant, id.words, 0);
      const found = await readHeader(connection, capture, agents, tenant, id.text, seq);
      if (found === null) return null;
      const { trace, spans } = found;
      const start = { traceId: id.text, after: null, since, most: SUMMARY_SPANS };
      const rows = await readSpanRows(connection, capture, tenant, start, spans, runParallel);
      const page = this.#summaryPage(id.text, rows, trace.agent_name);
      return new Transfer({ trace, page, seq: capture.lastSeq }, [page.json.buffer]);
    });
  }

  /** A later page of {@link outline}. */
  async summarySpans(
    { tenant, short }: ReadContext,
    cursor: SpanCursor,
    agentName: string,
  ): Promise<Transfer<SpanPage>> {
    const id = new TraceId(cursor.traceId);
    return await short(async (connection, capture, runParallel) => {
      const seq = this.#known.traces.find(tenant, id.words, 0);
      const spans = await readCommits(connection, capture, tenant, id.text, seq);
      if (spans === null) throw removedMeanwhile({ what: 'trace', list: 'spans' });
      const rows = await readSpanRows(connection, capture, tenant, cursor, spans, runParallel);
      const page = this.#summaryPage(id.text, rows, agentName);
      return new Transfer(page, [page.json.buffer]);
    });
  }

  /** In the order of every engine, without reading sent spans. */
  #summaryPage(traceId: string, rows: SpanRows, agentName: string): SpanPage {
    const { services } = this.#known;
    return summaryPage(traceId, inOrder(rows, false), (number) => {
      if (number === NO_NODE) return null;
      return number === AGENT_NODE ? agentName : services.name(number) || null;
    });
  }

  async #trace<Page>(
    { tenant, short }: ReadContext,
    traceId: string,
    pageOf: MakePage<Page>,
  ): Promise<FoundTrace<Page> | null> {
    const { agents, traces } = this.#known;
    const id = new TraceId(traceId);
    if (traces.find(tenant, id.words, 0) === 0) return null;
    return await short(async (connection, capture, runParallel) => {
      const at = { connection, capture, runParallel, tenant, id };
      const seq = traces.find(tenant, id.words, 0);
      const found = await readHeader(connection, capture, agents, tenant, id.text, seq);
      if (found === null) return null;
      const start = { traceId: id.text, after: null };
      const rows = await this.#rows(at, start, found.spans);
      return { trace: found.trace, page: pageOf(id.text, rows) };
    });
  }

  /**
   * A later page. Its spans may have newer versions in later commits, so the commits are looked up again.
   *
   * @throws ConsumeError `storage_unavailable` if the trace was removed meanwhile
   */
  async spans(by: ReadContext, cursor: SpanCursor): Promise<Transfer<ShownPage>> {
    const page = await this.#page(by, cursor, shownPage);
    return new Transfer(page, buffersOf(page));
  }

  /** A later page of {@link readWhole}. */
  async wholeSpans(by: ReadContext, cursor: SpanCursor): Promise<WholeSpanPage> {
    return await this.#page(by, cursor, wholeSpanPage);
  }

  async #page<Page>(
    { tenant, short }: ReadContext,
    cursor: SpanCursor,
    pageOf: MakePage<Page>,
  ): Promise<Page> {
    const id = new TraceId(cursor.traceId);
    return await short(async (connection, capture, runParallel) => {
      const seq = this.#known.traces.find(tenant, id.words, 0);
      const spans = await readCommits(connection, capture, tenant, id.text, seq);
      if (spans === null) throw removedMeanwhile({ what: 'trace', list: 'spans' });
      return pageOf(
        id.text,
        await this.#rows({ connection, capture, runParallel, tenant, id }, cursor, spans),
      );
    });
  }

  async #rows(at: Place, cursor: SpanCursor, spans: SpansOfTrace): Promise<SpanRows> {
    const { connection, capture, runParallel, tenant, id } = at;
    const rows = await readSpanRows(connection, capture, tenant, cursor, spans, runParallel);
    if (!this.#mayHaveEvents(tenant, id)) return inOrder(rows, true);
    return inOrder(await withEvents(connection, capture, tenant, cursor, rows), true);
  }

  #mayHaveEvents(tenant: number, { words }: TraceId): boolean {
    return this.#known.withEvents.find(tenant, words, 0) > 0;
  }

  /** One span of a trace; null if not found. */
  async span({ tenant, short }: ReadContext, traceId: string, spanId: string): Promise<WholeSpan | null> {
    const [trace, span] = [new TraceId(traceId), new TraceId(spanId)];
    return await short(async (connection, capture) => {
      const seq = this.#known.traces.find(tenant, trace.words, 0);
      if (seq === 0) return null;
      const where = await readCommits(connection, capture, tenant, trace.text, seq);
      if (where === null) return null;
      const mayHaveEvents = this.#mayHaveEvents(tenant, trace);
      return await readSpan(connection, capture, tenant, { trace, span }, where, mayHaveEvents);
    });
  }

  async scores({ tenant, short }: ReadContext, traceId: string): Promise<readonly StoredScore[]> {
    const id = new TraceId(traceId);
    return await short(async (connection, capture) => {
      const seq = this.#known.traces.find(tenant, id.words, 0);
      const spans = seq === 0 ? null : await readCommits(connection, capture, tenant, id.text, seq);
      return await readScores(connection, capture, tenant, id.text, spans);
    });
  }

  async list(
    by: ReadContext,
    filter: RunFilter,
    page: PageRange,
  ): Promise<RunsPart & { readonly count: number }> {
    const { agents, stats } = this.#known;
    return await listRuns(by.short, agents, stats, by.tenant, filter, page);
  }

  /** The runs after a cursor of the same list, without a total. */
  async follow(
    by: ReadContext,
    search: FollowedSearch,
    from: { readonly after: RunCursor | null; readonly limit: number },
  ): Promise<FollowingPart> {
    const isShort = [search.span, search.promptNos].every((asked) => asked === undefined);
    const known = { ...this.#known, agentsWith: this.#agentsWith };
    return await listRunsAfter(isShort ? by.short : by.long, known, by.tenant, search, from);
  }

  /** The runs of a part of a list that may have all needles. @param terms of each condition, as `termsOf` */
  async searchStep(
    { tenant, long }: ReadContext,
    search: FollowedSearch,
    { needles, terms }: { readonly needles: Needles; readonly terms: readonly (readonly string[])[] },
    from: { readonly after: RunCursor | null; readonly limit: number },
  ): Promise<SearchStep> {
    const known = { ...this.#known, agentsWith: this.#agentsWith };
    const { agents } = known;
    const commits =
      terms.length === 0
        ? []
        : await long((connection, capture) => commitsWith(connection, capture, tenant, terms));
    const also = mayHaveTerms([...agents.ofTenant(tenant)], terms, commits);
    const step = await keysAfter(
      long,
      known,
      tenant,
      search,
      {
        ...from,
        limit: also === undefined ? from.limit : Math.min(MOST_NARROWED, from.limit),
        also,
      },
      async (part) => await searchStep(part, agents, tenant, { needles, commits: commits.flat() }),
    );
    return step ?? { candidates: [], next: null };
  }

  /** The texts of some runs, and where to read their payloads. */
  async searchedTexts(
    { tenant, long }: ReadContext,
    traceIds: readonly string[],
    needles: readonly string[],
  ): Promise<TextsOfRuns> {
    return await long(async (connection, capture) => {
      const runs = this.#commitsOf(tenant, traceIds);
      return await textsOfRuns(connection, capture, this.#known.agents, tenant, { runs, needles });
    });
  }

  async searchedPieces({ tenant, long }: ReadContext, pieces: readonly PiecePlace[]): Promise<TextOfRun[]> {
    return await long(
      async (connection, capture) => await textsInPieces(connection, capture, tenant, pieces),
    );
  }

  /** Where the payloads of some runs are. */
  async piecesOfRuns({ tenant, long }: ReadContext, traceIds: readonly string[]): Promise<PiecePlace[]> {
    return await long(async (connection, capture) => {
      const runs = this.#commitsOf(tenant, traceIds);
      return await piecesOfRuns(connection, capture, tenant, runs);
    });
  }

  /** The attributes in some payloads that may have all needles of one of the lists. */
  async attributesInPieces(
    { tenant, long }: ReadContext,
    pieces: readonly PiecePlace[],
    needles: readonly (readonly AttributeNeedle[])[],
  ): Promise<StoredAttributes[]> {
    return await long(
      async (connection, capture) => await attributesInPieces(connection, capture, tenant, pieces, needles),
    );
  }

  async values({ tenant, long }: ReadContext, wanted: WantedValues): Promise<readonly FieldValue[]> {
    return await long(
      async (connection, capture) =>
        await readValues(connection, capture, this.#known.agents, tenant, wanted),
    );
  }

  /** A page of the spans of a trace with their texts; at the start also those of its header. Null for an unknown trace. */
  async searchedSpans(
    { tenant, long }: ReadContext,
    traceId: string,
    after: SpanPosition | null,
  ): Promise<SearchedPage | null> {
    const { agents, traces } = this.#known;
    const id = new TraceId(traceId);
    return await long(async (connection, capture, runParallel) => {
      const seq = traces.find(tenant, id.words, 0);
      const spans = await readCommits(connection, capture, tenant, id.text, seq);
      if (spans === null) return null;
      const run = { traceId: id.text, seq };
      const header = after === null ? await textsOfOneRun(connection, capture, agents, tenant, run) : [];
      const place = after && { startedAt: after.started_at, spanId: new TraceId(after.span_id).text };
      const cursor = { traceId: id.text, after: place };
      const rows = await readSpanRows(connection, capture, tenant, cursor, spans, runParallel);
      return {
        header,
        spans: rows.spans.map((span) => ({
          position: { started_at: Number(span.row.started_at), span_id: String(span.row.span_id) },
          texts: textsOfPayload(id.text, span.row, span.payload),
        })),
        isLast: rows.next === null,
      };
    });
  }

  /** Previews of the current versions of some runs. */
  async preview({ tenant, short }: ReadContext, ids: readonly string[]): Promise<RunPreview[]> {
    return await this.#previews.read(short, tenant, () => this.#wanted(tenant, ids));
  }

  /** The current versions of the remaining runs of a list. */
  async rest({ tenant, short }: ReadContext, ids: readonly string[], filter: RunFilter): Promise<RunsPart> {
    const { agents } = this.#known;
    return await short(async (connection, capture) => {
      const wanted = this.#wanted(tenant, ids);
      return await readRunsAt(connection, capture, agents, tenant, wanted, orderOf(filter));
    });
  }

  /** The commits of the headers of those runs that are stored, by id. */
  #commitsOf(tenant: number, ids: readonly string[]): ReadonlyMap<string, number> {
    const stored = this.#wanted(tenant, ids).filter(({ seq }) => seq > 0);
    return new Map(stored.map(({ id, seq }) => [id, seq]));
  }

  /** Runs with the commits of their headers; 0 for a run that is not stored. */
  #wanted(tenant: number, ids: readonly string[]): PlacedRun[] {
    return ids.map((id) => {
      const { words, text } = new TraceId(id);
      return { id: text, seq: this.#known.traces.find(tenant, words, 0) };
    });
  }
}

function shownPage(traceId: string, rows: SpanRows): ShownPage {
  const isPlain = rows.spans.every(({ events }) => events === undefined);
  return isPlain ? spanPage(traceId, rows) : shortSpanPage(traceId, rows);
}

function buffersOf(page: ShownPage): ArrayBuffer[] {
  return 'json' in page ? [page.json.buffer] : [];
}

/** The spans of a page for display. @param looksAtSent whether received spans decide between equal microseconds */
function inOrder({ spans, next }: SpanRows, looksAtSent: boolean): SpanRows {
  const ordered = inTraceOrder(spans, ({ row, payload }) => {
    const { started_at, span_id, parent_span_id } = row;
    return { started_at, span_id, parent_span_id, sent: looksAtSent ? payload.sent : null };
  });
  return { spans: ordered, next };
}
