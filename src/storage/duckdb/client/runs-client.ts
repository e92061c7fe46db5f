import type { PageRange } from '../../contracts/paging.js';
import type {
  DetailedSpan,
  FieldValue,
  FollowingRuns,
  FoundRuns,
  OutcomeChange,
  RunFilter,
  RunOutcome,
  RunPreview,
  RunCursor,
  Runs,
  RunSearch,
  RunSummary,
  StoredScore,
  StoredSpan,
  StoredTrace,
  TraceSummary,
  WantedAttributes,
  WantedValues,
  FoundByText,
  TextSearch,
} from '../../contracts/runs.js';
import type { FoundSpans, SearchRange, SpanPosition } from '../../contracts/search.js';
import {
  attributeValues,
  searchRuns,
  searchTrace,
  withSummaries,
  type SearchedList,
  type TextOfRun,
} from '../../shared/run-search.js';
import type { AttributeNeedle } from '../../shared/attribute-search.js';
import { NO_CONDITIONS, parseTextQuery } from '../../shared/text-query.js';
import { termsOf } from '../index/text-terms.js';
import type { FollowedSearch } from '../read/following-runs.js';
import { batchesOf } from '../read/searched-runs.js';
import type { ShownPage } from '../read/run-reads.js';
import type { SpanPage } from '../read/span-json.js';
import type { WholeSpan, WholeSpanPage } from '../read/whole-span.js';
import type { StoreHandle } from './store-handle.js';
import type { LocalChangeFeed } from '../../shared/local-change-feed.js';
import type { JsonObject, StoredAttributes } from '../../../signal/attributes.js';
import { storedCall } from '../../../signal/call-details.js';
import { parseJson } from '../../../signal/json.js';
import { loggedEvent } from '../../shared/logged-events.js';

/** Spans whose payloads are parsed at a time. */
const PARSED_SPANS = 50;

/** Bytes of payloads that a search reads at a time. */
const SEARCHED_BYTES = 2 * 1024 * 1024;
/** The same for attributes: DuckDB decompresses 2048 pieces at a time. */
const ATTRIBUTE_BYTES = 8 * 1024 * 1024;

/** The contract `Runs` for the daemon's thread. */
export class RunsClient implements Runs {
  readonly #handle: StoreHandle;
  readonly #arrivals: LocalChangeFeed;

  constructor(handle: StoreHandle, arrivals: LocalChangeFeed) {
    this.#handle = handle;
    this.#arrivals = arrivals;
  }

  async read(
    userId: string,
    traceId: string,
    { details = false }: { readonly details?: boolean } = {},
    abort?: AbortSignal,
  ): Promise<StoredTrace | null> {
    const { tenant } = await this.#handle.user(userId);
    if (details) return await this.#readWhole(tenant, traceId, abort);
    const found = await this.#handle.read(tenant, 'runs', 'read', [traceId], abort);
    return found && { ...found.trace, spans: this.#spans(tenant, found.page, abort) };
  }

  async traceSummary(
    userId: string,
    traceId: string,
    since: number,
    abort?: AbortSignal,
  ): Promise<TraceSummary | null> {
    const { tenant } = await this.#handle.user(userId);
    const found = await this.#handle.read(tenant, 'runs', 'traceSummary', [traceId, since], abort);
    if (found === null) return null;
    const { trace, page, seq } = found;
    return { ...trace, seq, spans: this.#summaryPages(tenant, page, trace.agent_name, abort) };
  }

  async readSpan(
    userId: string,
    traceId: string,
    spanId: string,
    abort?: AbortSignal,
  ): Promise<DetailedSpan | null> {
    const { tenant } = await this.#handle.user(userId);
    const span = await this.#handle.read(tenant, 'runs', 'span', [traceId, spanId], abort);
    return span && detailedSpan(span);
  }

  async scores(userId: string, traceId: string, abort?: AbortSignal): Promise<readonly StoredScore[]> {
    const { tenant } = await this.#handle.user(userId);
    return await this.#handle.read(tenant, 'runs', 'scores', [traceId], abort);
  }

  async list(userId: string, filter: RunFilter, page: PageRange, abort?: AbortSignal): Promise<FoundRuns> {
    const { tenant } = await this.#handle.user(userId);
    const { items, count, rest } = await this.#handle.read(tenant, 'runs', 'list', [filter, page], abort);
    if (rest.length === 0) return { items, count };
    return { items, count, rest: { runs: rest.length, pages: this.#pages(tenant, rest, filter, abort) } };
  }

  async follow(
    userId: string,
    { prompt, ...filter }: RunSearch,
    from: { readonly after: RunCursor | null; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<FollowingRuns> {
    const { tenant } = await this.#handle.user(userId);
    const promptNos = prompt && (await this.#promptNos(userId, prompt));
    const search = promptNos === undefined ? filter : { ...filter, promptNos };
    const { items, next, rest } = await this.#handle.read(tenant, 'runs', 'follow', [search, from], abort);
    if (rest.length === 0) return { items, next };
    return { items, next, rest: { runs: rest.length, pages: this.#pages(tenant, rest, filter, abort) } };
  }

  async search(
    userId: string,
    { prompt, ...filter }: TextSearch,
    range: SearchRange<RunCursor>,
    abort?: AbortSignal,
  ): Promise<FoundByText> {
    const { tenant } = await this.#handle.user(userId);
    const promptNos = prompt && (await this.#promptNos(userId, prompt));
    const { query, attributes, ...rest } = filter;
    const search = promptNos === undefined ? rest : { ...rest, promptNos };
    const terms = termsOf(parseTextQuery(query) ?? NO_CONDITIONS);
    const list = this.#searchedList(tenant, search, terms, abort);
    const found = await searchRuns(list, { ...rest, query, ...(attributes && { attributes }) }, range);
    return await withSummaries(found, this.#pages(tenant, found.traceIds, rest, abort));
  }

  async attributeValues(
    userId: string,
    wanted: WantedAttributes,
    abort?: AbortSignal,
  ): Promise<readonly FieldValue[]> {
    const { tenant } = await this.#handle.user(userId);
    return await attributeValues(this.#searchedList(tenant, wanted.filter, [], abort), wanted);
  }

  async values(userId: string, wanted: WantedValues, abort?: AbortSignal): Promise<readonly FieldValue[]> {
    const { tenant } = await this.#handle.user(userId);
    return await this.#handle.read(tenant, 'runs', 'values', [wanted], abort);
  }

  async searchTrace(
    userId: string,
    traceId: string,
    query: string,
    range: SearchRange<SpanPosition>,
    abort?: AbortSignal,
  ): Promise<FoundSpans | null> {
    const { tenant } = await this.#handle.user(userId);
    const page = async (after: SpanPosition | null) =>
      await this.#handle.read(tenant, 'runs', 'searchedSpans', [traceId, after], abort);
    return await searchTrace(page, query, range);
  }

  async preview(
    userId: string,
    traceIds: readonly string[],
    abort?: AbortSignal,
  ): Promise<readonly RunPreview[]> {
    const { tenant } = await this.#handle.user(userId);
    return await this.#handle.read(tenant, 'runs', 'preview', [traceIds], abort);
  }

  async *find(
    userId: string,
    traceIds: readonly string[],
    abort?: AbortSignal,
  ): AsyncGenerator<readonly RunSummary[]> {
    const { tenant } = await this.#handle.user(userId);
    yield* this.#pages(tenant, traceIds, {}, abort);
  }

  async setOutcome(userId: string, traceId: string, change: OutcomeChange): Promise<RunOutcome | null> {
    const { users, order } = this.#handle.opened.known;
    const outcome = await order.send(
      userId,
      () => users.known(userId) ?? users.find(userId),
      async ({ tenant }) => await this.#handle.call('setOutcome', tenant, traceId, change),
    );
    if (outcome !== null) this.#arrivals.traceChanged(userId, traceId);
    return outcome;
  }

  async #promptNos(
    userId: string,
    { name, version }: NonNullable<RunSearch['prompt']>,
  ): Promise<readonly number[]> {
    const versions = await this.#handle.opened.control.prompts.numbersOf(userId, name);
    return versions
      .filter((each) => version === undefined || each.version === version)
      .map(({ number }) => number);
  }

  /** @param terms of each condition of a query, as `termsOf` */
  #searchedList(
    tenant: number,
    search: FollowedSearch,
    terms: readonly (readonly string[])[],
    abort: AbortSignal | undefined,
  ): SearchedList {
    return {
      step: async (needles, after, limit) =>
        await this.#handle.read(
          tenant,
          'runs',
          'searchStep',
          [search, { needles, terms }, { after, limit }],
          abort,
        ),
      texts: (ids, needles, isDecided) => this.#texts(tenant, ids, needles, isDecided, abort),
      attributes: (ids, needles, isDecided) => this.#attributes(tenant, ids, needles, isDecided, abort),
    };
  }

  async *#attributes(
    tenant: number,
    traceIds: readonly string[],
    needles: readonly (readonly AttributeNeedle[])[],
    isDecided: (traceId: string) => boolean,
    abort: AbortSignal | undefined,
  ): AsyncGenerator<readonly StoredAttributes[]> {
    const found = await this.#handle.read(tenant, 'runs', 'piecesOfRuns', [traceIds], abort);
    for (const pieces of batchesOf(found, ATTRIBUTE_BYTES)) {
      const open = pieces.filter(({ traceId }) => !isDecided(traceId));
      if (open.length > 0)
        yield await this.#handle.read(tenant, 'runs', 'attributesInPieces', [open, needles], abort);
    }
  }

  async *#texts(
    tenant: number,
    traceIds: readonly string[],
    needles: readonly string[],
    isDecided: (traceId: string) => boolean,
    abort: AbortSignal | undefined,
  ): AsyncGenerator<readonly TextOfRun[]> {
    const found = await this.#handle.read(tenant, 'runs', 'searchedTexts', [traceIds, needles], abort);
    yield found.texts;
    for (const pieces of batchesOf(found.pieces, SEARCHED_BYTES)) {
      const open = pieces.filter(({ traceId }) => !isDecided(traceId));
      if (open.length > 0) yield await this.#handle.read(tenant, 'runs', 'searchedPieces', [open], abort);
    }
  }

  async #readWhole(tenant: number, traceId: string, abort?: AbortSignal): Promise<StoredTrace | null> {
    const found = await this.#handle.read(tenant, 'runs', 'readWhole', [traceId], abort);
    return found && { ...found.trace, spans: this.#wholeSpans(tenant, found.page, abort) };
  }

  async *#spans(
    tenant: number,
    first: ShownPage,
    abort: AbortSignal | undefined,
  ): AsyncGenerator<readonly StoredSpan[] | Uint8Array> {
    for (let page = first; ;) {
      if (!('json' in page)) yield* parsed(page.spans, shortSpan);
      else if (page.json.length > 0) yield page.json;
      if (page.next === null) return;
      page = await this.#handle.read(tenant, 'runs', 'spans', [page.next], abort);
    }
  }

  async *#summaryPages(
    tenant: number,
    first: SpanPage,
    agentName: string,
    abort: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array> {
    for (let page = first; ;) {
      // Reads the next page while this one is sent: the caller wants all pages, and they are small.
      const next =
        page.next && this.#handle.read(tenant, 'runs', 'summarySpans', [page.next, agentName], abort);
      next?.catch(() => undefined);
      if (page.json.length > 0) yield page.json;
      if (next === null) return;
      page = await next;
    }
  }

  async *#wholeSpans(
    tenant: number,
    first: WholeSpanPage,
    abort: AbortSignal | undefined,
  ): AsyncGenerator<readonly DetailedSpan[]> {
    for (let page = first; ;) {
      yield* parsed(page.spans, detailedSpan);
      if (page.next === null) return;
      page = await this.#handle.read(tenant, 'runs', 'wholeSpans', [page.next], abort);
    }
  }

  async *#pages(
    tenant: number,
    ids: readonly string[],
    filter: RunFilter,
    abort: AbortSignal | undefined,
  ): AsyncGenerator<readonly RunSummary[]> {
    for (let rest = ids; rest.length > 0;) {
      const part = await this.#handle.read(tenant, 'runs', 'rest', [rest, filter], abort);
      yield part.items;
      rest = part.rest;
    }
  }
}

/** Limits memory: parsed payloads take several times the space of their text. */
function* parsed<Span>(spans: readonly WholeSpan[], parse: (span: WholeSpan) => Span): Generator<Span[]> {
  for (let from = 0; from < spans.length; from += PARSED_SPANS)
    yield spans.slice(from, from + PARSED_SPANS).map(parse);
}

/** One span in the format of the contract. */
function detailedSpan(whole: WholeSpan): DetailedSpan {
  const { metadata, sent, origin } = whole.payload;
  return {
    ...shortSpan(whole),
    details: {
      call: storedCall(whole.call),
      metadata: objectOf(metadata),
      sent: sent === null || origin === null ? null : { bytes: sent, origin },
    },
  };
}

/** One span without its details. */
function shortSpan({ span, payload, events }: WholeSpan): StoredSpan {
  return {
    ...span,
    input_data: objectOf(payload.input),
    output_data: objectOf(payload.output),
    ...(events.length > 0 && { events: events.map(loggedEvent) }),
  };
}

/** Parses JSON in UTF-8. */
function objectOf(json: Uint8Array | null): JsonObject | null {
  if (json === null) return null;
  return parseJson(Buffer.from(json.buffer, json.byteOffset, json.length).toString('utf8')) as JsonObject;
}
