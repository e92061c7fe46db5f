import { itemAt, invariant } from '../../../signal/checked.js';
import { RUN_KINDS } from '../../../signal/span.js';
import { type Run, fold } from '../../../runs/fold.js';
import { FAILED, type SpanRow } from '../../../runs/rules/rows.js';
import type {
  NamedAgent,
  InternedAgent,
  InternedAgents,
  WriteIntentLog,
} from '../../contracts/coordination.js';
import type { SentFact, WholeSpan } from './effective-spans.js';
import { earlierThan, newItems, otherWrites, type IsEarlier } from './new-items.js';
import { NodeNumbers } from './node-names.js';
import type { Reads } from '../client/reads.js';
import type { BinaryRow } from '../client/row-binary.js';
import { payloadOf, runRows, wholeSpanRow, WHOLE_SPAN_COLUMNS } from './run-rows.js';
import { completed, messageKey, traceKey, type SentSpan, type SentTrace } from './sent-traces.js';
import { deriveRun, type DerivedRun } from './derive-run.js';
import { readFacts, spanRowOf, type WantedTrace } from './stored-facts.js';
import { hourOf } from '../../../signal/trace-map.js';
import { writeOf } from './message-order.js';
import { foldedMessages, type RunFacts } from './run-facts.js';

/** Spans read with their payloads per statement. */
const WHOLES_A_READ = 500;

/** Dependencies for applying runs. */
export interface ApplyParts {
  readonly reads: Reads;
  readonly book: Pick<WriteIntentLog, 'firstFences'>;
  readonly agents: Pick<InternedAgents, 'number'>;
  /** The identity of the store. */
  readonly store: string;
  /** Maximum of agent names per user. */
  readonly mostAgents: number;
}

/** The write that applies runs. */
export interface SettlingWrite {
  readonly number: number;
  /** The fence under which the facts are read, and the first fence of the write. */
  readonly fence: number;
  readonly firstFence: number;
}

/** A run changed by a write. */
export interface AppliedRun {
  readonly derived: DerivedRun;
  readonly agent: InternedAgent;
  /** Whether the run ended with this write, or failed after its end. */
  readonly endsNow: boolean;
}

/** Applied runs and their new items. */
export interface AppliedRuns {
  readonly runs: readonly AppliedRun[];
  readonly runRows: readonly BinaryRow[];
  readonly spanRows: readonly BinaryRow[];
  /** New items, by the keys of the messages of the write: {@link messageKey}. */
  readonly items: ReadonlyMap<string, number>;
}

/**
 * Derives runs from all their stored facts, after a fence was taken.
 *
 * @param own the write's own traces by key, if this process has them
 */
export async function applyRuns(
  parts: ApplyParts,
  write: SettlingWrite,
  wanted: readonly WantedTrace[],
  own: ReadonlyMap<string, readonly SentTrace[]>,
): Promise<AppliedRuns> {
  const nodes = new NodeNumbers();
  const facts = await readFacts(parts.reads, wanted, own, nodes);
  const others = new Set(facts.flatMap((each) => otherWrites(each, write.number)));
  const firstFences =
    others.size === 0
      ? new Map<number, number | null>()
      : await parts.book.firstFences(parts.store, [...others]);
  const isEarlier = earlierThan(write.number, write.firstFence, firstFences);
  const items = new Map<string, number>();
  for (const each of facts)
    for (const [order, count] of newItems(each, write.number, isEarlier))
      items.set(messageKey(each, order), count);
  const derived = facts.flatMap((each) => deriveRun(each, nodes) ?? []);
  const agents = await parts.agents.number(parts.store, derived.map(namedBy), parts.mostAgents);
  const writes = { write: write.number, isEarlier, firstFences };
  const comesTo = (isIt: (run: Run) => boolean, { run, facts: its }: DerivedRun): boolean =>
    isIt(run) && !isEmitted(its, isIt, writes);
  const runs = derived.map((run, i) => ({
    derived: run,
    agent: itemAt(agents, i),
    endsNow: comesTo(hasEnded, run) || comesTo(hasFailed, run),
  }));
  return {
    runs,
    runRows: runs.flatMap(({ derived: run, agent }) => runRows(run, agent.number, write.fence)),
    spanRows: await wholeRows(parts.reads, derived, own, write.fence),
    items,
  };
}

function hasEnded(run: Run): boolean {
  return run.hasEnded;
}

function hasFailed({ hasEnded: ended, header }: Run): boolean {
  return ended && header.status === FAILED;
}

function namedBy({ facts, run }: DerivedRun): NamedAgent {
  const isAgents = itemAt(RUN_KINDS, run.header.kind) === 'agent';
  return {
    tenant: facts.tenant,
    name: run.agent,
    at: run.lastSeenAt,
    comesIntoBeing: isAgents && run.namesItsAgent,
  };
}

/** A span to write as a whole. */
interface ToWrite {
  readonly tenant: number;
  readonly traceId: string;
  readonly whole: WholeSpan;
}

async function wholeRows(
  reads: Reads,
  derived: readonly DerivedRun[],
  own: ReadonlyMap<string, readonly SentTrace[]>,
  fence: number,
): Promise<BinaryRow[]> {
  const toWrite = derived.flatMap(({ facts: { tenant, traceId }, wholes }) =>
    wholes.map((whole): ToWrite => ({ tenant, traceId, whole })),
  );
  const rows: BinaryRow[] = [];
  for (let from = 0; from < toWrite.length; from += WHOLES_A_READ) {
    const some = toWrite.slice(from, from + WHOLES_A_READ);
    const sent = await sentSpans(reads, some, own);
    for (const { tenant, traceId, whole } of some) {
      const find = (fact: SentFact): SentSpan =>
        invariant(sent.get(spanKey({ tenant, traceId }, fact)), 'a span that a message brought');
      const { begun, completed: later } = whole.made;
      const span = later === null ? find(begun) : completed(find(begun), find(later));
      rows.push(wholeSpanRow({ tenant, whole }, span, span.payload, fence));
    }
  }
  return rows;
}

function spanKey(trace: WantedTrace, { order, row }: SentFact): string {
  return `${messageKey(trace, order)} ${row.span_id}`;
}

/** The whole spans as sent: from memory, else from the table. */
async function sentSpans(
  reads: Reads,
  wanted: readonly ToWrite[],
  own: ReadonlyMap<string, readonly SentTrace[]>,
): Promise<ReadonlyMap<string, SentSpan>> {
  const found = new Map<string, SentSpan>();
  const places: string[] = [];
  const toRead: string[] = [];
  for (const { tenant, traceId, whole } of wanted) {
    const { begun, completed: later } = whole.made;
    for (const fact of later === null ? [begun] : [begun, later]) {
      const key = spanKey({ tenant, traceId }, fact);
      const mine = own
        .get(traceKey(tenant, traceId))
        ?.find(({ order }) => order === fact.order)
        ?.spans.find(({ row }) => row.span_id === fact.row.span_id);
      if (mine !== undefined) found.set(key, mine);
      else {
        toRead.push(key);
        places.push(
          `(${tenant}, ${hourOf(fact.row.started_at)}, '${traceId}', '${fact.row.span_id}', ${fact.order})`,
        );
      }
    }
  }
  if (toRead.length === 0) return found;
  const rows = await reads.rows(
    `SELECT tenant, seq, node, prompt, ${WHOLE_SPAN_COLUMNS.join(', ')} FROM spans WHERE (tenant, hour, trace_id, span_id, seq) IN (${places.join(', ')})`,
  );
  for (const read of rows) {
    const row: SpanRow = spanRowOf(read);
    const trace = { tenant: Number(read.tenant), traceId: String(read.trace_id) };
    found.set(spanKey(trace, { order: Number(read.seq), row, node: 0, prompt: null }), {
      row,
      payload: payloadOf(read),
      node: String(read.node),
      prompt: read.prompt === null ? null : Number(read.prompt),
      encoded: null,
    });
  }
  return found;
}

/**
 * Whether the end of a run, or another state, was certainly emitted: certainly earlier messages led to it, and no concurrent write
 * changes it. A concurrent writer may have read the run while it was running, so both emit the event and the log
 * deduplicates. An end whose writes were deleted from the write-intent log was emitted long ago and is not emitted again.
 *
 * @param isIt whether a run is in that state
 */
export function isEmitted(
  facts: RunFacts,
  isIt: (run: Run) => boolean,
  {
    write,
    isEarlier,
    firstFences,
  }: {
    readonly write: number;
    readonly isEarlier: IsEarlier;
    readonly firstFences: ReadonlyMap<number, number | null>;
  },
): boolean {
  if (!was(isIt, facts, isEarlier)) return false;
  const isOther = (order: number): boolean => writeOf(order) !== write;
  const isAtIt = facts.messages.some(({ order }) => isOther(order) && !isEarlier(order));
  return !isAtIt || was(isIt, facts, (order) => isOther(order) && !firstFences.has(writeOf(order)));
}

/** Whether a run was in a state with some of its messages. */
function was(
  isIt: (run: Run) => boolean,
  { messages, spans }: RunFacts,
  isOfThem: (order: number) => boolean,
): boolean {
  const before = messages.filter(({ order }) => isOfThem(order));
  if (before.length === 0) return false;
  const run = fold(
    foldedMessages(before),
    spans.filter(({ order }) => isOfThem(order)),
  );
  return run !== null && isIt(run);
}
