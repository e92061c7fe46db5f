import type { Logger } from '../../../component/telemetry.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { LOGS } from '../../schema/log-tables.js';
import { TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { IS_GEN_AI_EVENT } from './gen-ai-events.js';
import type { Read } from '../segments/read.js';
import { TruncatedSpanIds } from './truncated-span-ids.js';
import { IdIndex, type IndexSize } from './id-index.js';
import type { IdRows } from './id-rows.js';
import type { IndexKind } from '../files/run-names.js';
import { StoredIds, storeNumber } from './stored-ids.js';

/** The indexes of ids. */
export interface Indexes {
  /** Ids of all traces. */
  readonly traces: IdIndex;
  /** Ids of traces with links, whether these traces are stored or not. */
  readonly links: IdIndex;
  /** Ids of the spans of truncated runs. */
  readonly truncatedSpans: IdIndex;
  /** Ids of traces with GenAI events among their log records, whether these traces are stored or not. */
  readonly withEvents: IdIndex;
}

/**
 * @param lastSeq the last commit in any file
 * @param size in place of `INDEX_SIZE`
 */
export async function openIndexes(
  connection: Connection,
  read: Read,
  parts: {
    readonly mainPath: string;
    readonly lastSeq: number;
    readonly logger: Logger;
    readonly size: IndexSize | undefined;
  },
): Promise<Indexes> {
  const store = await storeNumber(connection);
  const opened: IdIndex[] = [];
  const open = async (kind: IndexKind, rows: IdRows): Promise<IdIndex> => {
    const index = await IdIndex.open({ ...parts, kind, store, rows });
    opened.push(index);
    return index;
  };
  try {
    return {
      traces: await open('traces', new StoredIds(read, TRACES)),
      links: await open('links', new StoredIds(read, PROMPT_LINKS)),
      truncatedSpans: await open('spans', new TruncatedSpanIds(read)),
      withEvents: await open('events', new StoredIds(read, LOGS, IS_GEN_AI_EVENT)),
    };
  } catch (error) {
    for (const index of opened) await index.close();
    throw error;
  }
}
