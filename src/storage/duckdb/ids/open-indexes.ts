import type { Logger } from '../../../component/telemetry.js';
import { PROMPT_LINKS } from '../../prompt-links-table.js';
import { TRACES } from '../../tables.js';
import type { Connection } from '../files/connection.js';
import type { Read } from '../reads/read.js';
import { ClosedSpanIds } from './closed-span-ids.js';
import { IdIndex, type IndexSize } from './id-index.js';
import type { IdRows } from './id-rows.js';
import type { IndexKind } from '../files/run-names.js';
import { StoredIds, storeNumber } from './stored-ids.js';

/** The ids that are looked up. */
export interface Indexes {
  /** Of all traces. */
  readonly traces: IdIndex;
  /** Of traces with links, be they stored or not. */
  readonly links: IdIndex;
  /** Of the spans of closed runs. */
  readonly closedSpans: IdIndex;
}

/** @param lastSeq the last commit in any file @param size other than `INDEX_SIZE` */
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
  const open = async (kind: IndexKind, rows: IdRows): Promise<IdIndex> =>
    await IdIndex.open({ ...parts, kind, store, rows });
  return {
    traces: await open('traces', new StoredIds(read, TRACES)),
    links: await open('links', new StoredIds(read, PROMPT_LINKS)),
    closedSpans: await open('spans', new ClosedSpanIds(read)),
  };
}
