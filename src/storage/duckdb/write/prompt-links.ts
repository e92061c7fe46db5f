import type { PromptLink } from '../../contracts/prompts.js';
import { itemAt } from '../../../signal/checked.js';
import { ColumnsReader } from '../../../worker/columns-reader.js';
import { ColumnsWriter } from '../../../worker/columns-writer.js';
import { TextScratch } from '../../../worker/text-scratch.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { indexOf } from '../../schema/table.js';
import type { Connection } from '../files/connection.js';
import type { IdIndex } from '../index/id-index.js';
import type { Capture } from '../segments/segment.js';
import type { TraceState } from './trace-state.js';
import type { TouchedTrace, ClassifiedTraces } from './classify.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { LinkChange } from './change.js';
import { columnRows, type Rows } from './rows.js';
import type { PromptStats } from './prompt-stats.js';
import type { LinkedRun } from './linked-run.js';
import { loadLinks } from './stored-links.js';
import { TraceLinks, type NewLink } from './trace-links.js';

/** A link to a prompt version, by its number. */
export interface NumberedLink extends Pick<PromptLink, 'trace_id' | 'span_id'> {
  readonly promptNo: number;
}

/** In-memory state that a commit with prompt links changes. */
export interface LinkedPrompts {
  /** Every linked trace, stored or not, with the last commit that wrote a link of it. */
  readonly linked: IdIndex;
  readonly stats: PromptStats;
}

/** A trace, by its id in words from `offset` on. */
type LinkedTrace = Pick<TouchedTrace, 'tenant' | 'words' | 'offset'>;

/** The changes of the current commit to the links between prompt versions and traces. */
export class PromptLinks {
  readonly #connection: Connection;
  readonly #linked: IdIndex;
  readonly #stats: PromptStats;
  /** The traces of the group with stored or new links, by key. */
  readonly #traces = new Map<string, TraceLinks>();

  /** @param connection the writer's */
  constructor(connection: Connection, { linked, stats }: LinkedPrompts) {
    this.#connection = connection;
    this.#linked = linked;
    this.#stats = stats;
  }

  /** Reads the stored links of the group's traces. @param states the stored traces, by key */
  async load(
    sorted: ClassifiedTraces,
    states: ReadonlyMap<string, TraceState>,
    capture: Capture,
  ): Promise<void> {
    const wanted = new Map<number, TraceLinks[]>();
    const find = (key: string, trace: LinkedTrace): void => {
      const { tenant, words, offset } = trace;
      if (this.#linked.find(tenant, words, offset) === 0) return;
      const known = states.get(key)?.links;
      const links = known ?? new TraceLinks(trace);
      this.#traces.set(key, links);
      if (known) return;
      const list = wanted.get(tenant);
      if (list === undefined) wanted.set(tenant, [links]);
      else list.push(links);
    };
    if (this.#linked.size === 0) return;
    for (const [key, trace] of sorted.touched) find(key, trace);
    for (const [batch, traces] of sorted.whole) {
      for (const trace of traces) {
        if (this.#linked.find(batch.tenant, batch.traceIds, trace * 4) > 0)
          find(batch.traceKey(trace), traceOf(batch, trace));
      }
    }
    for (const [tenant, traces] of wanted)
      await loadLinks(this.#connection, capture, this.#linked, tenant, traces);
  }

  /** Whether no trace of the group has links. */
  get isEmpty(): boolean {
    return this.#traces.size === 0;
  }

  /** Adds an explicitly requested link. */
  link(key: string, { tenant, words, promptNo, spanWords, linkedAt }: LinkChange): void {
    const span = spanWords === null ? null : { words: spanWords, offset: 0 };
    this.#linksOf(key, { tenant, words, offset: 0 }).add(promptNo, span, linkedAt);
  }

  /** Adds the links of the spans of a trace in a batch that name prompts. */
  linkSpans(key: string, batch: IncomingBatch, trace: number): void {
    if (!batch.usesPrompts) return;
    for (let row = batch.start(trace); row < batch.end(trace); row++) this.linkSpan(key, batch, trace, row);
  }

  /** Adds the link of one span, if it names a prompt. */
  linkSpan(key: string, batch: IncomingBatch, trace: number, row: number): void {
    const promptNo = batch.promptAt(row);
    if (promptNo === null) return;
    const span = { words: batch.spanIds, offset: row * 4 };
    this.#linksOf(key, traceOf(batch, trace)).add(promptNo, span, batch.receivedAt);
  }

  rows(seq: number): Rows[] {
    const added = [...this.#traces.values()].flatMap((links) => links.added.map((link) => ({ links, link })));
    if (added.length === 0) return [];
    const writer = new ColumnsWriter(PROMPT_LINKS.wire, added.length, new TextScratch(0));
    added.forEach(({ links, link }, row) => {
      writeLink(writer, row, links, link);
    });
    const linksAt = (row: number): TraceLinks => itemAt(added, row).links;
    return [
      columnRows(PROMPT_LINKS, {
        source: new ColumnsReader(PROMPT_LINKS.wire, writer.finish()),
        from: 0,
        to: added.length,
        assigned: {
          seq,
          tenant: (row) => linksAt(row).tenant,
          first_seq: (row) => linksAt(row).firstSeq || seq,
        },
      }),
    ];
  }

  /**
   * After the commit: updates the stats of the prompt versions of a trace. Call for each trace of the group with links; a second
   * call does nothing.
   *
   * @param before null for a trace that was not stored
   * @param after null for a trace that is still not stored
   * @returns the links of the trace; null if it has none, or in a second call
   */
  committed(seq: number, key: string, before: LinkedRun | null, after: LinkedRun | null): TraceLinks | null {
    const links = this.#traces.get(key);
    if (links === undefined) return null;
    this.#traces.delete(key);
    if (after !== null) {
      for (const { promptNo, isNew } of links.prompts())
        if (isNew || before !== after) this.#stats.change(promptNo, isNew ? null : before, after);
    }
    const { tenant, words, offset } = links;
    if (links.added.length > 0) this.#linked.put(tenant, words, offset, seq);
    links.committed(seq);
    return links;
  }

  /** Call after a failed commit. */
  clear(): void {
    this.#traces.clear();
  }

  #linksOf(key: string, trace: LinkedTrace): TraceLinks {
    const known = this.#traces.get(key);
    if (known !== undefined) return known;
    const made = new TraceLinks(trace);
    this.#traces.set(key, made);
    return made;
  }
}

function traceOf(batch: IncomingBatch, trace: number): LinkedTrace {
  return { tenant: batch.tenant, words: batch.traceIds, offset: trace * 4 };
}

function writeLink(
  writer: ColumnsWriter,
  row: number,
  { words, offset }: TraceLinks,
  { promptNo, span, linkedAt }: NewLink,
): void {
  writer.int32(PROMPT_NO, row, promptNo);
  writer.uuidWords(TRACE_ID, row, words, offset);
  if (span === null) writer.isNull(SPAN_ID, row);
  else writer.uuidWords(SPAN_ID, row, span.words, span.offset);
  writer.int64(LINKED_AT, row, linkedAt);
}

const PROMPT_NO = indexOf(PROMPT_LINKS.wire, 'prompt_no');
const TRACE_ID = indexOf(PROMPT_LINKS.wire, 'trace_id');
const SPAN_ID = indexOf(PROMPT_LINKS.wire, 'span_id');
const LINKED_AT = indexOf(PROMPT_LINKS.wire, 'linked_at');
