import type { LogFilter, LogPage } from '../../telemetry-store.js';
import type { Origins } from '../changes/origins.js';
import { readLogs, readLogTrace, searchLogs, type LogSlice } from '../queries/logs.js';
import type { Read } from '../reads/read.js';
import { TraceId } from '../rows/trace-id.js';
import type { WriteAnswer } from '../commits/commit-queue.js';
import type { Writer } from '../commits/writer.js';
import type { LogsMessage } from '../messages/encode-logs.js';
import { IncomingLogs } from '../logs/incoming-logs.js';
import type { LogKey } from '../logs/log-keys.js';

/** A page of found records as it crosses from the store thread: the first records, and the keys by which the others are read. */
export interface FoundLogsAnswer {
  readonly count: number;
  readonly slice: LogSlice;
}

/** The log records in the store. Users are tenant numbers here. */
export class StoredLogs {
  readonly #origins: Origins;

  constructor(origins: Origins) {
    this.#origins = origins;
  }

  async write(writer: Writer, message: LogsMessage): Promise<WriteAnswer> {
    const { usage } = await writer.write({ append: new IncomingLogs(message, this.#origins) });
    return { usage };
  }

  async search(read: Read, tenant: number, filter: LogFilter, page: LogPage): Promise<FoundLogsAnswer> {
    const { trace_id } = filter;
    const safe = trace_id === undefined ? filter : { ...filter, trace_id: new TraceId(trace_id).text };
    return await read((connection, capture) =>
      // Blocks may be merged between two statements.
      connection.asOfNow(async () => {
        const { count, keys } = await searchLogs(connection, capture, tenant, safe, page);
        return { count, slice: await readLogs(connection, capture, tenant, keys, page.details ?? false) };
      }),
    );
  }

  /** A later part of a page. Its records may lie elsewhere by now. */
  async read(read: Read, tenant: number, keys: readonly LogKey[], details: boolean): Promise<LogSlice> {
    return await read((connection, capture) => readLogs(connection, capture, tenant, keys, details));
  }

  /** @returns null for an unknown record and for one without a trace */
  async trace(read: Read, tenant: number, logId: string): Promise<string | null> {
    const { text } = new TraceId(logId);
    return await read((connection, capture) => readLogTrace(connection, capture, tenant, text));
  }
}
