import { byteAt, doubleAt, intAt, itemAt } from '../../signal/checked.js';
import {
  AGENT_SOURCES,
  RUN_KINDS,
  RUN_STATUSES,
  type AgentHint,
  type RunKind,
  type RunStatus,
} from '../../signal/span.js';
import { NO_NODE } from '../../signal/service-map.js';
import { serializeCallKey, RADIX, readCallKey, type CallKey } from '../../signal/call-key.js';
import { contextWeight, serializeContext, type RunContext } from '../../signal/run-context.js';
import { hasOutcome } from '../rules/run-outcome.js';
import type { SpanFacts } from '../rules/span-facts.js';
import { WHOLE } from '../rules/duplicate-calls.js';
import { FIRST_ROWS, grown, IdRows } from './id-rows.js';

/** In place of a parent's row: there is no parent, or it is not known. */
export const NO_ROW = -1;
/** In place of the number of a hint. */
const NO_HINT = -1;
/** In place of the code of a kind. */
const NO_KIND = 255;
/** In place of the number of a context. */
const NO_CONTEXT = -1;
/** In place of the number of a voice. */
const NO_VOICE = -1;

/** Reporter, model and provider of a call: a call key without the response id. */
export type Voice = Omit<CallKey, 'response'>;

/** The stored values of a span without its id: {@link SpanFacts}, with the parent's row. */
export type SpanValues = Omit<SpanFacts, 'span_id' | 'parent_span_id'>;

/**
 * What a run's header and the service map depend on, for very many spans: a row of numbers for each, some hundred and twenty bytes. A
 * span that is only known as the parent of others has a row, too: then `isHere` is false.
 */
export class SpanColumns {
  readonly ids = new IdRows();
  parents = new Int32Array(FIRST_ROWS);
  nodes = new Int32Array(FIRST_ROWS);
  starts = new Float64Array(FIRST_ROWS);
  /** NaN for none. */
  ends = new Float64Array(FIRST_ROWS);
  tokens = new Float64Array(FIRST_ROWS);
  costs = new Float64Array(FIRST_ROWS);
  types = new Uint8Array(FIRST_ROWS);
  seqs = new Float64Array(FIRST_ROWS);
  lines = new Uint32Array(FIRST_ROWS);
  /** Hashes of response ids; 0 if there is none. */
  responses = new Float64Array(FIRST_ROWS);
  /** Of spans whose call another one counts, its row. */
  sames = new Int32Array(FIRST_ROWS);
  /** What counts of each span: `duplicate-calls.ts`. */
  counts = new Uint8Array(FIRST_ROWS);
  /** Whether spans of several scopes report calls. */
  haveSeveralReporters = false;
  /** How many spans there are. */
  size = 0;
  #here = new Uint8Array(FIRST_ROWS);
  #statuses = new Uint8Array(FIRST_ROWS);
  #kinds = new Uint8Array(FIRST_ROWS);
  #hints = new Int32Array(FIRST_ROWS);
  readonly #hintNumbers = new Map<string, number>();
  readonly #hintList: AgentHint[] = [];
  #contexts = new Int32Array(FIRST_ROWS);
  readonly #contextNumbers = new Map<string, number>();
  readonly #contextList: RunContext[] = [];
  #voices = new Int32Array(FIRST_ROWS);
  readonly #voiceNumbers = new Map<string, number>();
  readonly #voiceList: Voice[] = [];
  /** The memory of all contexts, compared with that of a span as an object. */
  contextWeight = 0;
  /** Only root and outcome spans can set the error of a header. */
  readonly #errors = new Map<number, string>();

  /** The row of an id; a new id gets one. */
  row(key: string): number {
    const row = this.ids.number(key);
    if (row >= this.parents.length) this.#grow();
    if (row >= this.#rows) {
      this.#rows = row + 1;
      this.parents[row] = NO_ROW;
      this.nodes[row] = NO_NODE;
      this.#hints[row] = NO_HINT;
      this.#contexts[row] = NO_CONTEXT;
      this.#voices[row] = NO_VOICE;
      this.sames[row] = NO_ROW;
      this.counts[row] = WHOLE;
      this.ends[row] = NaN;
      this.tokens[row] = NaN;
      this.costs[row] = NaN;
    }
    return row;
  }

  #rows = 0;

  isHere(row: number): boolean {
    return this.#here[row] === 1;
  }

  status(row: number): RunStatus {
    return itemAt(RUN_STATUSES, byteAt(this.#statuses, row));
  }

  /** @param row also {@link NO_ROW} */
  hint(row: number): AgentHint | null {
    const hint = row === NO_ROW ? NO_HINT : intAt(this.#hints, row);
    return hint === NO_HINT ? null : itemAt(this.#hintList, hint);
  }

  /** Rank of the source of the span's agent name: lower is better; Infinity without a name. */
  rank(row: number): number {
    const hint = this.hint(row);
    return hint === null ? Infinity : AGENT_SOURCES.indexOf(hint.source);
  }

  /** What the span says of its run's kind. */
  kind(row: number): RunKind | null {
    const code = byteAt(this.#kinds, row);
    return code === NO_KIND ? null : itemAt(RUN_KINDS, code);
  }

  /** @param row also {@link NO_ROW} */
  context(row: number): RunContext | null {
    const context = row === NO_ROW ? NO_CONTEXT : intAt(this.#contexts, row);
    return context === NO_CONTEXT ? null : itemAt(this.#contextList, context);
  }

  /** The reporter of a call; null for a span that is not a call. */
  voice(row: number): Voice | null {
    const voice = intAt(this.#voices, row);
    return voice === NO_VOICE ? null : itemAt(this.#voiceList, voice);
  }

  error(row: number): string | null {
    return this.#errors.get(row) ?? null;
  }

  /** Puts a span into its row, or a version that says more. @param parent its row */
  set(row: number, parent: number, hasParent: boolean, span: SpanValues): void {
    const same = span.same_as === null ? NO_ROW : this.row(span.same_as);
    if (!this.isHere(row)) {
      this.#here[row] = 1;
      this.size++;
    }
    this.parents[row] = parent;
    this.nodes[row] = span.node;
    this.types[row] = span.type;
    this.#statuses[row] = RUN_STATUSES.indexOf(span.status);
    this.starts[row] = span.started_at;
    this.ends[row] = span.ended_at ?? NaN;
    this.tokens[row] = span.total_tokens ?? NaN;
    this.costs[row] = span.cost_usd ?? NaN;
    this.#hints[row] = span.agent_hint === null ? NO_HINT : this.#hintNumber(span.agent_hint);
    this.#kinds[row] = span.run_kind === null ? NO_KIND : RUN_KINDS.indexOf(span.run_kind);
    this.#contexts[row] = span.context === null ? NO_CONTEXT : this.#contextNumber(span.context);
    this.sames[row] = same;
    this.counts[row] = span.counted;
    this.#setCall(row, span.call_key);
    const source = span.agent_hint?.source;
    const isKept = !hasParent || hasOutcome({ isRoot: false, type: span.type, status: span.status, source });
    if (!isKept || span.error_message === null) this.#errors.delete(row);
    else this.#errors.set(row, span.error_message);
  }

  /** Everything that is kept of a span. */
  facts(row: number): SpanFacts {
    const parent = intAt(this.parents, row);
    const same = intAt(this.sames, row);
    const numberOf = (value: number): number | null => (Number.isNaN(value) ? null : value);
    return {
      span_id: this.ids.key(row),
      parent_span_id: parent === NO_ROW ? null : this.ids.key(parent),
      type: byteAt(this.types, row),
      node: intAt(this.nodes, row),
      status: this.status(row),
      started_at: doubleAt(this.starts, row),
      ended_at: numberOf(doubleAt(this.ends, row)),
      error_message: this.error(row),
      agent_hint: this.hint(row),
      run_kind: this.kind(row),
      context: this.context(row),
      total_tokens: numberOf(doubleAt(this.tokens, row)),
      cost_usd: numberOf(doubleAt(this.costs, row)),
      call_key: this.#callKey(row),
      same_as: same === NO_ROW ? null : this.ids.key(same),
      counted: byteAt(this.counts, row),
    };
  }

  /** Whether a span comes before another in the order of starts, then ids. */
  isBefore(a: number, b: number): boolean {
    const difference = doubleAt(this.starts, a) - doubleAt(this.starts, b);
    return difference === 0 ? this.ids.compare(a, b) < 0 : difference < 0;
  }

  #setCall(row: number, key: string | null): void {
    if (key === null) {
      this.#voices[row] = NO_VOICE;
      return;
    }
    const { response, ...voice } = readCallKey(key);
    this.#voices[row] = this.#voiceNumber(voice);
    this.responses[row] = response === '' ? 0 : Number.parseInt(response, RADIX);
    this.haveSeveralReporters ||= this.#voiceList[0]?.teller !== voice.teller;
  }

  #callKey(row: number): string | null {
    const voice = this.voice(row);
    if (voice === null) return null;
    const response = doubleAt(this.responses, row);
    return serializeCallKey({ ...voice, response: response === 0 ? '' : response.toString(RADIX) });
  }

  #voiceNumber(voice: Voice): number {
    const key = serializeCallKey({ ...voice, response: '' });
    const known = this.#voiceNumbers.get(key);
    if (known !== undefined) return known;
    const number = this.#voiceList.push(voice) - 1;
    this.#voiceNumbers.set(key, number);
    return number;
  }

  #hintNumber(hint: AgentHint): number {
    const key = `${hint.source} ${hint.name}`;
    const known = this.#hintNumbers.get(key);
    if (known !== undefined) return known;
    const number = this.#hintList.push(hint) - 1;
    this.#hintNumbers.set(key, number);
    return number;
  }

  #contextNumber(context: RunContext): number {
    const key = serializeContext(context);
    const known = this.#contextNumbers.get(key);
    if (known !== undefined) return known;
    const number = this.#contextList.push(context) - 1;
    this.contextWeight += contextWeight(context);
    this.#contextNumbers.set(key, number);
    return number;
  }

  #grow(): void {
    this.parents = grown(this.parents, Int32Array);
    this.nodes = grown(this.nodes, Int32Array);
    this.starts = grown(this.starts, Float64Array);
    this.ends = grown(this.ends, Float64Array);
    this.tokens = grown(this.tokens, Float64Array);
    this.costs = grown(this.costs, Float64Array);
    this.types = grown(this.types, Uint8Array);
    this.seqs = grown(this.seqs, Float64Array);
    this.lines = grown(this.lines, Uint32Array);
    this.#here = grown(this.#here, Uint8Array);
    this.#statuses = grown(this.#statuses, Uint8Array);
    this.#kinds = grown(this.#kinds, Uint8Array);
    this.#contexts = grown(this.#contexts, Int32Array);
    this.#hints = grown(this.#hints, Int32Array);
    this.#voices = grown(this.#voices, Int32Array);
    this.responses = grown(this.responses, Float64Array);
    this.sames = grown(this.sames, Int32Array);
    this.counts = grown(this.counts, Uint8Array);
  }
}
