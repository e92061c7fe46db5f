import { SPAN_TYPES } from '../../../signal/span.js';
import type { Micros } from '../../../signal/time.js';
import type { PageRange } from '../../contracts/paging.js';
import type { Prompts } from '../../contracts/prompts.js';
import type {
  DetailedSpan,
  FieldValue,
  FollowingRuns,
  FoundRuns,
  OutcomeChange,
  RunFilter,
  RunPreview,
  RunOutcome,
  RunCursor,
  Runs,
  RunSearch,
  RunSummary,
  SpanFilter,
  StoredScore,
  StoredTrace,
  TraceSummary,
  ValueField,
  WantedAttributes,
  WantedValues,
  FoundByText,
  TextSearch,
} from '../../contracts/runs.js';
import { conditions, fieldText } from './run-conditions.js';
import { effectiveSpans } from './effective-spans-sql.js';
import { readPreviews } from './previews.js';
import { findRuns, listRunsAfter, listRuns, runsInOrder, type ListParts } from './listed-runs.js';
import { searchedList } from './searched-runs.js';
import { attributeValues, searchRuns, searchTrace, withSummaries } from '../../shared/run-search.js';
import type { FoundSpans, SearchRange, SpanPosition } from '../../contracts/search.js';
import { serializedAgentNode, nodeFromRow } from '../runs/node-names.js';
import { quoted, uuidIn } from '../client/literals.js';
import type { RunQueue } from '../runs/run-queue.js';
import { SOUGHT_COLUMNS } from '../tables/run-tables.js';
import { readSummary, readSpan, readTrace, readTraceScores, searchedSpans } from './trace-reads.js';

/** Dependencies of {@link RunReads}. */
export interface RunReadParts extends ListParts {
  readonly queue: Pick<RunQueue, 'write'>;
  readonly prompts: Pick<Prompts, 'numbersOf'>;
  readonly tenantOf: (userId: string) => Promise<number>;
  /** Sends a write after the earlier writes of the same user. */
  readonly inOrder: <Answer>(userId: string, send: (tenant: number) => Promise<Answer>) => Promise<Answer>;
  readonly now: () => Micros;
  /** Called after the outcome of a run was set. */
  readonly changed: (userId: string, traceId: string) => void;
}

/** The contract `Runs`. */
export class RunReads implements Runs {
  readonly #parts: RunReadParts;

  constructor(parts: RunReadParts) {
    this.#parts = parts;
  }

  async read(
    userId: string,
    traceId: string,
    { details = false }: { readonly details?: boolean } = {},
    abort?: AbortSignal,
  ): Promise<StoredTrace | null> {
    const id = uuidIn(traceId);
    return id === null ? null : await readTrace(this.#parts, await this.#tenant(userId), id, details, abort);
  }

  async traceSummary(
    userId: string,
    traceId: string,
    since: number,
    abort?: AbortSignal,
  ): Promise<TraceSummary | null> {
    const id = uuidIn(traceId);
    return id === null ? null : await readSummary(this.#parts, await this.#tenant(userId), id, since, abort);
  }

  async readSpan(
    userId: string,
    traceId: string,
    spanId: string,
    abort?: AbortSignal,
  ): Promise<DetailedSpan | null> {
    const [trace, span] = [uuidIn(traceId), uuidIn(spanId)];
    if (trace === null || span === null) return null;
    return await readSpan(this.#parts, await this.#tenant(userId), { traceId: trace, spanId: span }, abort);
  }

  async scores(userId: string, traceId: string, abort?: AbortSignal): Promise<readonly StoredScore[]> {
    const id = uuidIn(traceId);
    return id === null ? [] : await readTraceScores(this.#parts, await this.#tenant(userId), id, abort);
  }

  async list(userId: string, filter: RunFilter, page: PageRange, abort?: AbortSignal): Promise<FoundRuns> {
    return await listRuns(this.#parts, await this.#tenant(userId), filter, page, abort);
  }

  async follow(
    userId: string,
    search: RunSearch,
    { after, limit }: { readonly after: RunCursor | null; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<FollowingRuns> {
    const tenant = await this.#tenant(userId);
    const also = await this.#also(userId, tenant, search);
    if (also === null) return { items: [], next: null };
    return await listRunsAfter(this.#parts, tenant, search, { after, limit, also }, abort);
  }

  async search(
    userId: string,
    search: TextSearch,
    range: SearchRange<RunCursor>,
    abort?: AbortSignal,
  ): Promise<FoundByText> {
    const tenant = await this.#tenant(userId);
    const also = await this.#also(userId, tenant, search);
    const found = await searchRuns(searchedList(this.#parts, tenant, search, also, abort), search, range);
    return await withSummaries(found, runsInOrder(this.#parts, tenant, found.traceIds, abort));
  }

  async values(
    userId: string,
    { field, contains = '', filter, limit }: WantedValues,
    abort?: AbortSignal,
  ): Promise<readonly FieldValue[]> {
    const { reads, names } = this.#parts;
    const tenant = await this.#tenant(userId);
    const where = conditions(await names.of(tenant), tenant, filter);
    if (where === null) return [];
    const rows = await reads.rows(
      `SELECT value, count() AS runs FROM (SELECT ${valuesOf(field)} AS value FROM runs FINAL WHERE ${where})
       WHERE ifNull(value, '') != '' AND positionUTF8(lowerUTF8(ifNull(value, '')), lowerUTF8(${quoted(contains)})) > 0
       GROUP BY value ORDER BY runs DESC, value LIMIT ${limit}`,
      abort,
    );
    return rows.map(({ value, runs }) => ({ value: String(value), runs: Number(runs) }));
  }

  async attributeValues(
    userId: string,
    wanted: WantedAttributes,
    abort?: AbortSignal,
  ): Promise<readonly FieldValue[]> {
    const tenant = await this.#tenant(userId);
    return await attributeValues(searchedList(this.#parts, tenant, wanted.filter, 'true', abort), wanted);
  }

  async searchTrace(
    userId: string,
    traceId: string,
    query: string,
    range: SearchRange<SpanPosition>,
    abort?: AbortSignal,
  ): Promise<FoundSpans | null> {
    const id = uuidIn(traceId);
    if (id === null) return null;
    const tenant = await this.#tenant(userId);
    return await searchTrace((after) => searchedSpans(this.#parts, tenant, id, after, abort), query, range);
  }

  /** SQL for the conditions of a search on spans and prompts; null if no run can meet them. */
  async #also(userId: string, tenant: number, { span, prompt }: RunSearch): Promise<string | null> {
    const prompts = prompt === undefined ? undefined : await this.#promptNos(userId, prompt);
    if (prompts?.length === 0) return null;
    const also = [
      ...(prompts === undefined ? [] : [`hasAny(prompts, [${prompts.join(', ')}])`]),
      ...(span === undefined ? [] : [await this.#hasSpan(tenant, span)]),
    ];
    return also.join(' AND ') || 'true';
  }

  async preview(
    userId: string,
    traceIds: readonly string[],
    abort?: AbortSignal,
  ): Promise<readonly RunPreview[]> {
    const ids = traceIds.flatMap((id) => uuidIn(id) ?? []);
    return await readPreviews(this.#parts.reads, await this.#tenant(userId), ids, abort);
  }

  async *find(
    userId: string,
    traceIds: readonly string[],
    abort?: AbortSignal,
  ): AsyncGenerator<readonly RunSummary[]> {
    const ids = traceIds.flatMap((id) => uuidIn(id) ?? []);
    yield* findRuns(this.#parts, await this.#tenant(userId), ids, abort);
  }

  async setOutcome(userId: string, traceId: string, change: OutcomeChange): Promise<RunOutcome | null> {
    const id = uuidIn(traceId);
    if (id === null) return null;
    const { success, outcome = null } = change;
    const { queue, inOrder, now } = this.#parts;
    // A lone surrogate becomes U+FFFD, as in the columns of batches.
    const message = { kind: 'outcome', success, outcome: outcome && outcome.toWellFormed() } as const;
    const { outcome: found } = await inOrder(
      userId,
      async (tenant) => await queue.write({ kind: 'message', tenant, traceId: id, at: now(), message }),
    );
    if (found !== null) this.#parts.changed(userId, id);
    return found;
  }

  /** SQL condition for runs with a matching span. */
  async #hasSpan(tenant: number, { model, name, type, node }: SpanFilter): Promise<string> {
    const is = [
      ...(model === undefined ? [] : [`model = ${quoted(model)}`]),
      ...(name === undefined ? [] : [`name = ${quoted(name)}`]),
      ...(type === undefined ? [] : [`type = ${SPAN_TYPES.indexOf(type)}`]),
    ];
    const spans = (where: readonly string[]): string => {
      const all = [...is, ...where].join(' AND ');
      const sought = `SELECT trace_id FROM spans WHERE tenant = ${tenant} AND ${all}`;
      const contradicted = `trace_id IN (SELECT trace_id FROM runs FINAL WHERE tenant = ${tenant} AND is_contradicted)`;
      const effective = effectiveSpans(tenant, {}, SOUGHT_COLUMNS, contradicted);
      return `if(is_contradicted, trace_id IN (SELECT trace_id FROM ${effective} WHERE ${all}), trace_id IN (${sought}))`;
    };
    if (node === undefined) return spans([]);
    const named = spans([`node = ${quoted(nodeFromRow(node))}`]);
    // A span of the agent itself has the name of its run's agent.
    const agents = (await this.#parts.names.of(tenant)).all().filter((agent) => agent.name === node);
    if (agents.length === 0) return named;
    const numbers = agents.map(({ number }) => number).join(', ');
    return `(${named} OR (agent_no IN (${numbers}) AND ${spans([`node = ${quoted(serializedAgentNode)}`])}))`;
  }

  async #promptNos(
    userId: string,
    { name, version }: NonNullable<RunSearch['prompt']>,
  ): Promise<readonly number[]> {
    const versions = await this.#parts.prompts.numbersOf(userId, name);
    return versions
      .filter((each) => version === undefined || each.version === version)
      .map(({ number }) => number);
  }

  async #tenant(userId: string): Promise<number> {
    return await this.#parts.tenantOf(userId);
  }
}

/** SQL for the values of a field, one row each. */
function valuesOf(field: ValueField): string {
  if (field === 'tag') return "arrayJoin(splitByChar('\\n', ifNull(tags, '')))";
  if (field === 'metadata') return "arrayJoin(JSONExtractKeys(ifNull(metadata, '{}')))";
  return field === 'session_id' || field === 'user_id' ? field : fieldText(field);
}
