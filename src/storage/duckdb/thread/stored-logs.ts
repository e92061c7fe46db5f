import { Transfer } from '../../../worker/thread-protocol.js';
import type {
  LogBuckets,
  LogFacets,
  LogFilter,
  LogGroups,
  LogPage,
  LogCursor,
} from '../../contracts/logs.js';
import type { NamedBatches } from '../write/named-batches.js';
import type { Origins } from '../write/origins.js';
import type { IdIndex } from '../index/id-index.js';
import { readLogFacets, readLogGroups } from '../read/log-facets.js';
import { readLogs, readLogTrace, searchLogs, type LogSlice } from '../read/logs.js';
import type { ReadContext } from '../segments/read-context.js';
import { TraceId } from '../segments/trace-id.js';
import type { WriteAnswer } from '../write/commit-queue.js';
import type { Writer } from '../write/writer.js';
import type { LogsMessage } from '../write/encode-logs.js';
import { BlockCounts } from '../index/block-counts.js';
import { IncomingLogs } from '../write/incoming-logs.js';
import { judgeRuns } from '../write/incoming-scores.js';
import type { LogKey } from '../index/log-keys.js';

/** A page of found records as sent by the store thread: the first records, and the keys for reading the others. */
export interface FoundLogsAnswer {
  readonly count: number;
  readonly slice: LogSlice;
  /** The cursor of the page's last record; null if no record follows. */
  readonly next: LogCursor | null;
}

/** The log records in the store. Users are tenant numbers here. */
export class StoredLogs {
  /** Which traces have GenAI events among their records. */
  readonly withEvents: IdIndex;
  /** Which traces have scores that decide about their success. */
  readonly verdicts: IdIndex;
  /** The stored traces. */
  readonly traces: IdIndex;
  readonly #origins: Origins;
  readonly #names: NamedBatches;
  readonly #counts = new BlockCounts();

  constructor(
    origins: Origins,
    names: NamedBatches,
    { withEvents, verdicts, traces }: Pick<StoredLogs, 'withEvents' | 'verdicts' | 'traces'>,
  ) {
    this.#origins = origins;
    this.#names = names;
    this.withEvents = withEvents;
    this.verdicts = verdicts;
    this.traces = traces;
  }

  async write(writer: Writer, message: LogsMessage): Promise<WriteAnswer> {
    const incoming = new IncomingLogs(message, this.#origins, this);
    const { answer } = await this.#names.once(message.tenant, message.name, incoming, (append) =>
      writer.write({ kind: 'append', append }),
    );
    await judgeRuns({ writer, traces: this.traces }, message.tenant, message.scores ?? []);
    return { usage: answer?.usage };
  }

  async search(
    { tenant, long }: ReadContext,
    filter: LogFilter,
    page: LogPage,
  ): Promise<Transfer<FoundLogsAnswer>> {
    const { after, offset, limit } = page;
    const safe = {
      ...safeFilter(filter),
      ...(after === undefined ? {} : { after: { ...after, id: new TraceId(after.id).text } }),
    };
    return await long((connection, capture) =>
      // Blocks may be merged between two statements.
      connection.asOfNow(async () => {
        const { count, keys } = await searchLogs(connection, capture, tenant, safe, page);
        const slice = await readLogs(connection, capture, tenant, keys, page.details ?? false);
        const last = offset + limit < count ? keys.at(-1) : undefined;
        const next = last === undefined ? null : { timestamp: last.timestamp, id: last.id };
        return new Transfer({ count, slice, next }, [slice.json.buffer]);
      }),
    );
  }

  async facets(
    { tenant, long }: ReadContext,
    filter: Omit<LogFilter, 'start_time' | 'end_time'>,
    buckets: LogBuckets,
  ): Promise<LogFacets> {
    return await long((connection, capture) =>
      connection.asOfNow(() =>
        readLogFacets(connection, { capture, counts: this.#counts, tenant }, safeFilter(filter), buckets),
      ),
    );
  }

  async groups(
    { tenant, long }: ReadContext,
    filter: LogFilter,
    attributes: readonly string[],
  ): Promise<LogGroups> {
    return await long((connection, capture) =>
      connection.asOfNow(() =>
        readLogGroups(connection, { capture, tenant }, safeFilter(filter), attributes),
      ),
    );
  }

  /** A later part of a page. Its records may have been moved since the search. */
  async rest(
    { tenant, short }: ReadContext,
    keys: readonly LogKey[],
    details: boolean,
  ): Promise<Transfer<LogSlice>> {
    const slice = await short((connection, capture) => readLogs(connection, capture, tenant, keys, details));
    return new Transfer(slice, [slice.json.buffer]);
  }

  /** @returns null for an unknown record and for one without a trace */
  async findTrace({ tenant, long }: ReadContext, logId: string): Promise<string | null> {
    const { text } = new TraceId(logId);
    return await long((connection, capture) => readLogTrace(connection, capture, tenant, text));
  }
}

/** Normalizes the ids, because they are inserted into SQL. */
function safeFilter<Filter extends Pick<LogFilter, 'trace_id' | 'span_id'>>(filter: Filter): Filter {
  const { trace_id, span_id } = filter;
  return {
    ...filter,
    ...(trace_id === undefined ? {} : { trace_id: new TraceId(trace_id).text }),
    ...(span_id === undefined ? {} : { span_id: new TraceId(span_id).text }),
  };
}
