import { Transfer } from '../../../worker/thread-protocol.js';
import type { PageRange } from '../../paging.js';
import { removedMeanwhile } from '../../removed-meanwhile.js';
import type { RunFilter, StoredTrace } from '../../runs.js';
import type { Agents } from '../figures/agents.js';
import type { RunFigures } from '../figures/run-figures.js';
import type { IdIndex } from '../ids/id-index.js';
import type { Asker } from '../reads/asker.js';
import { TraceId } from '../rows/trace-id.js';
import { listRuns, readRunsAt, type RunsPart } from './runs.js';
import { readCommits, readHeader, readSpans, type SpanCursor, type SpanPage } from './trace.js';

/** What is known of runs without reading the tables. */
interface Known {
  readonly agents: Agents;
  readonly figures: RunFigures;
  /** Which traces are stored, with the commits of their headers. */
  readonly traces: IdIndex;
}

/** The header of a trace, and the first page of its spans. */
export interface FoundTrace {
  readonly trace: Omit<StoredTrace, 'spans'>;
  readonly page: SpanPage;
}

/** What the contract `Runs` reads, in parts that may cross from the store thread. */
export class RunReads {
  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  async read({ tenant, short }: Asker, traceId: string): Promise<Transfer<FoundTrace> | null> {
    const { agents, traces } = this.#known;
    const id = new TraceId(traceId);
    if (traces.find(tenant, id.words, 0) === 0) return null;
    return await short(async (connection, capture) => {
      const seq = traces.find(tenant, id.words, 0);
      const found = await readHeader(connection, capture, agents, tenant, id.text, seq);
      if (found === null) return null;
      const start = { traceId: id.text, after: null };
      const page = await readSpans(connection, capture, tenant, start, found.spans);
      return new Transfer({ trace: found.trace, page }, [page.json.buffer]);
    });
  }

  /**
   * A later page. Its spans may have newer versions by now, in later commits, so their places are looked up again.
   *
   * @throws ConsumeError `storage_unavailable` where the trace was removed meanwhile
   */
  async spans({ tenant, short }: Asker, cursor: SpanCursor): Promise<Transfer<SpanPage>> {
    const id = new TraceId(cursor.traceId);
    return await short(async (connection, capture) => {
      const seq = this.#known.traces.find(tenant, id.words, 0);
      const spans = await readCommits(connection, capture, tenant, id.text, seq);
      if (spans === null) throw removedMeanwhile({ what: 'trace', list: 'spans' });
      const page = await readSpans(connection, capture, tenant, cursor, spans);
      return new Transfer(page, [page.json.buffer]);
    });
  }

  async list(by: Asker, filter: RunFilter, page: PageRange): Promise<RunsPart & { readonly count: number }> {
    const { agents, figures } = this.#known;
    const read = filter.query === undefined ? by.short : by.long;
    return await listRuns(read, agents, figures, by.tenant, filter, page);
  }

  /** The runs of a list that follow, as they are now. */
  async rest({ tenant, short }: Asker, ids: readonly string[]): Promise<RunsPart> {
    const { agents, traces } = this.#known;
    return await short(async (connection, capture) => {
      const wanted = ids.map((id) => {
        const { words, text } = new TraceId(id);
        return { id: text, seq: traces.find(tenant, words, 0) };
      });
      return await readRunsAt(connection, capture, agents, tenant, wanted);
    });
  }
}
