import type { Column, ColumnsMessage } from '../../worker/columns.js';

/**
 * What travels to the thread, for several batches at once. The texts lie in the order of the traces: the agent's name,
 * then what each of the spans has.
 */
export interface MapTask {
  /** Of each batch. */
  readonly traces: readonly number[];
  readonly headers: ColumnsMessage;
  readonly spans: ColumnsMessage;
  readonly texts: ColumnsMessage;
}

export const HEADER_COLUMNS: readonly Column[] = [
  { name: 'hour', kind: 'int32', sql: '' },
  { name: 'spans', kind: 'uint32', sql: '' },
];
export const HEADER = { hour: 0, spans: 1 } as const;

export const SPAN_COLUMNS: readonly Column[] = [
  // Its position in the trace. That is found before, since it takes less than ids to be laid out and looked up there.
  { name: 'parent', kind: 'int32', sql: '' },
  { name: 'type', kind: 'uint8', sql: '' },
  { name: 'source', kind: 'uint8', sql: '' },
];
export const SPAN = { parent: 0, type: 1, source: 2 } as const;

/** Where a span's node comes from. Above `name` there are so many URLs before the name. */
export const SOURCE = { none: 0, agent: 1, name: 2 } as const;

export const TEXT_COLUMNS: readonly Column[] = [{ name: 'text', kind: 'text', sql: '' }];

/** What travels back. */
export interface MapAnswer {
  /** Of each batch {@link LENGTHS} numbers; then, batch by batch, its `nodes`, `nodeSums` and `edgeSums`. */
  readonly numbers: Int32Array<ArrayBuffer>;
  /** Batch by batch. */
  readonly names: ColumnsMessage;
}

/** How many names a batch has, and how many numbers of each of the three kinds. */
export const LENGTHS = 4;
