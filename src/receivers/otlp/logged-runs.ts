import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { LogRecord } from '../../signal/log-record.js';
import { EVENT_NAME_ATTRIBUTE } from '../../signal/logged-event.js';
import { LOGGED_SCOPE } from '../../signal/logged-scope.js';
import type { Origin } from '../../signal/origin.js';
import { toKeyValues } from '../../otlp/encode/value.js';
import { spanBytes, traceBytes } from '../../otlp/wire/ids.js';
import type { Span, TracesRequest } from '../../otlp/wire/requests.js';
import { CONVENTIONS } from '../../otlp/map/clients/index.js';
import type { EventKind, ProgramEvents } from '../../otlp/map/conventions/convention.js';
import { count, identity, objectOf, payload, text } from '../../otlp/map/conventions/readers.js';

/** The keys of an event's values, the first that has one. Programs name them alike, so that one list does for all. */
const KEYS = {
  prompt_id: ['prompt.id', 'prompt_id'],
  session: ['session.id', 'session_id', 'conversation.id', 'conversation_id', 'gen_ai.conversation.id'],
  model: ['model', 'model_name', 'gen_ai.response.model', 'gen_ai.request.model'],
  response_id: ['request_id', 'response_id', 'gen_ai.response.id'],
  input: ['input_tokens', 'input_token_count', 'gen_ai.usage.input_tokens'],
  output: ['output_tokens', 'output_token_count', 'gen_ai.usage.output_tokens'],
  total: ['total_tokens', 'total_token_count'],
  cached_read: ['cache_read_tokens', 'cached_token_count', 'cached_content_token_count'],
  cached_write: ['cache_creation_tokens', 'cache_write_token_count'],
  reasoning: ['reasoning_token_count', 'thoughts_token_count'],
  cost: ['cost_usd'],
  duration: ['duration_ms', 'duration'],
  tool: ['tool_name', 'function_name', 'gen_ai.tool.name'],
  call_id: ['tool_use_id', 'call_id', 'gen_ai.tool.call.id'],
  arguments: ['tool_input', 'arguments', 'function_args', 'tool_parameters'],
  result: ['tool_output', 'output', 'tool_result', 'result'],
  prompt: ['prompt'],
  response: ['response'],
  error: ['error', 'error.message', 'error_message'],
  status: ['status_code', 'http.response.status_code', 'http.status_code'],
  attempt: ['attempt'],
  sequence: ['event.sequence', 'tool_result_seq'],
} as const;
type Key = keyof typeof KEYS;

/** OpenTelemetry's flags of a span: its parent is in another process. */
const REMOTE_PARENT = 0x300;
const ERROR = 2;
/** What is sent in place of a text that must not be logged. */
const REDACTED = /^(?:<redacted>|\[redacted\])$/i;

interface KnownEvent {
  readonly name: string;
  readonly kind: EventKind;
  readonly events: ProgramEvents;
}

/** An event of a run. */
interface ReportedEvent {
  readonly record: LogRecord;
  readonly event: KnownEvent;
  readonly run: string;
}

/** By the whole name of the event. */
const EVENTS: ReadonlyMap<string, KnownEvent> = new Map(
  CONVENTIONS.flatMap(({ programEvents: events }) =>
    events === undefined
      ? []
      : Object.entries(events.kinds).map(([rest, kind]) => {
          const name = `${events.prefix}${rest}`;
          return [name, { name, kind, events }];
        }),
  ),
);
/** The prefixes that programs leave out, by the names of their services and scopes. */
const PREFIXES: ReadonlyMap<unknown, string> = new Map(
  CONVENTIONS.flatMap(
    ({ programEvents: events }) => events?.programs.map((name) => [name, events.prefix] as const) ?? [],
  ),
);

/** The span in which a program logged an event. */
export interface LoggedIn {
  readonly traceId: string;
  readonly spanId: string;
}

/** Finds the spans of runs by their prompts and sessions, as far as earlier events named them. */
export interface TracedRuns {
  get(run: string): LoggedIn | undefined;
  set(run: string, where: LoggedIn): void;
}

/**
 * Spans of a program's log events, so that a program without spans has runs, too: a run for each prompt, or session where prompts have no
 * ids. Ids depend only on the event, so a repeat makes the same spans. If the program sends spans, these make the run: an event then only
 * adds its model call, which counts as long as no span reports a call of the model.
 *
 * @param traced remembers which runs have spans
 * @returns undefined if no record belongs to a run
 */
export function loggedRuns(records: readonly LogRecord[], traced: TracedRuns): TracesRequest | undefined {
  const reported: ReportedEvent[] = [];
  for (const record of records) {
    const event = eventOf(record);
    const run = event && runOf(record, event);
    if (event !== undefined && run !== undefined) reported.push({ record, event, run });
  }
  if (reported.length === 0) return undefined;
  /** Where the runs of the batch are first traced: a prompt is logged before its first span. */
  const first = new Map<string, LoggedIn>();
  for (const { record, run } of reported) {
    const where = loggedIn(record);
    if (where !== undefined && !first.has(run)) first.set(run, where);
  }
  const answers = answersIn(reported);
  const spans = new Map<Origin, Span[]>();
  for (const { record, event, run } of reported) {
    const where = loggedIn(record);
    if (where !== undefined) traced.set(run, where);
    const within = traced.get(run) ?? first.get(run);
    const span = spanOf(record, event, { run, within, answers });
    if (span === undefined) continue;
    const others = spans.get(record.origin);
    if (others === undefined) spans.set(record.origin, [span]);
    else others.push(span);
  }
  if (spans.size === 0) return undefined;
  return {
    resourceSpans: [...spans].map(([{ resource }, those]) => ({
      resource: { attributes: toKeyValues(resource) },
      scopeSpans: [{ scope: { name: LOGGED_SCOPE }, spans: those }],
    })),
  };
}

function loggedIn({ trace_id: traceId, span_id: spanId }: LogRecord): LoggedIn | undefined {
  return traceId === null || spanId === null ? undefined : { traceId, spanId };
}

/** The event of a record: by its name, its attribute, or its body, which of these has the whole name. */
function eventOf({ event_name: name, attributes, body, origin }: LogRecord): KnownEvent | undefined {
  const said = attributes[EVENT_NAME_ATTRIBUTE];
  const found =
    (name === null ? undefined : EVENTS.get(name)) ??
    (typeof said === 'string' ? EVENTS.get(said) : undefined) ??
    (typeof body === 'string' ? EVENTS.get(body) : undefined);
  if (found !== undefined) return found;
  const prefix = PREFIXES.get(origin.scope?.name) ?? PREFIXES.get(origin.serviceName);
  if (prefix === undefined) return undefined;
  const rest = typeof said === 'string' ? said : name;
  return rest !== null ? EVENTS.get(`${prefix}${rest}`) : undefined;
}

/** Names a run by a hash of its prompt or session, because ids may be long; undefined if it has neither. */
function runOf(record: LogRecord, { events: { prefix } }: KnownEvent): string | undefined {
  const prompt = identityOf(record, 'prompt_id');
  if (prompt !== undefined) return hashOf(`${prefix}prompt ${prompt}`);
  const session = identityOf(record, 'session');
  return session === undefined ? undefined : hashOf(`${prefix}session ${session}`);
}

interface Place {
  readonly run: string;
  /** Where the program's own spans are. */
  readonly within: LoggedIn | undefined;
  readonly answers: ReadonlyMap<string, JsonValue>;
}

function spanOf(record: LogRecord, event: KnownEvent, { run, within, answers }: Place): Span | undefined {
  const { name, kind } = event;
  const { attributes } = record;
  if (!isSpan(event, within !== undefined)) return undefined;
  const error = errorOf(record, kind);
  const values =
    kind === 'prompt'
      ? promptOf(record, within === undefined)
      : kind === 'tool'
        ? toolOf(record)
        : callOf(record, event);
  if (within === undefined && kind !== 'tool') values['gen_ai.agent.name'] = agentOf(record, event);
  if (kind === 'call' && error === undefined && !hasTokens(values)) return undefined;
  const response = identityOf(record, 'response_id');
  const answer = kind === 'call' && response !== undefined ? answers.get(response) : undefined;
  if (answer !== undefined) values['gen_ai.output.messages'] = answer;
  const session = identityOf(record, 'session');
  if (session !== undefined) values['gen_ai.conversation.id'] = session;
  const traceId = within === undefined ? digest(run, 16) : traceBytes(within.traceId);
  const root = digest(`${run} root`, 8);
  // Without prompt ids a run may have several prompts.
  const isRoot = kind === 'prompt' && within === undefined;
  const isOnly = isRoot && identityOf(record, 'prompt_id') !== undefined;
  const end = BigInt(record.timestamp) * 1000n;
  const duration = BigInt(Math.round(Math.min(numberOf(record, 'duration') ?? 0, MOST_MS) * 1e6));
  return {
    traceId,
    spanId: isOnly ? root : digest(`${run} ${identityOfEvent(record, name)}`, 8),
    parentSpanId: isRoot ? null : within === undefined ? root : spanBytes(within.spanId),
    // The program's spans may still come: only a run without any is complete as it is.
    flags: isRoot || within !== undefined ? 0 : REMOTE_PARENT,
    name,
    kind: 1,
    startTimeUnixNano: String(end > duration ? end - duration : end),
    endTimeUnixNano: String(end),
    attributes: toKeyValues({ ...attributes, ...values }),
    ...(error === undefined ? {} : { status: { code: ERROR, message: error } }),
  };
}

/** @param isTraced whether the program's own spans make the run */
function isSpan({ kind, events }: KnownEvent, isTraced: boolean): boolean {
  if (kind === 'call') return true;
  return isTraced ? events.onlyEvents?.includes(kind) === true : kind === 'prompt' || kind === 'tool';
}

function hasTokens(values: JsonObject): boolean {
  return 'gen_ai.usage.input_tokens' in values || 'gen_ai.usage.output_tokens' in values;
}

/** A day; a longer duration is an error. */
const MOST_MS = 86_400_000;

/**
 * Identifies an event in its run: by the id of the response or the tool's call, else by its time. Texts do not matter, because a relay
 * may have removed them.
 */
function identityOfEvent(record: LogRecord, name: string): string {
  const id = identityOf(record, 'response_id') ?? identityOf(record, 'call_id');
  const attempt = textOf(record, 'attempt') ?? '';
  return id === undefined
    ? `${name} ${record.timestamp} ${textOf(record, 'sequence') ?? ''} ${attempt}`
    : `${name} ${id} ${attempt}`;
}

function agentOf({ origin }: LogRecord, { events }: KnownEvent): string {
  return origin.serviceName || events.prefix.replace(/\W$/, '');
}

function promptOf(record: LogRecord, isRun: boolean): JsonObject {
  const prompt = textOf(record, 'prompt');
  const values: JsonObject = isRun ? { 'gen_ai.operation.name': 'invoke_agent' } : {};
  if (prompt !== undefined && !REDACTED.test(prompt))
    values['gen_ai.input.messages'] = [{ role: 'user', content: prompt }];
  return values;
}

function toolOf(record: LogRecord): JsonObject {
  return known({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': textOf(record, 'tool'),
    'gen_ai.tool.call.id': textOf(record, 'call_id'),
    'gen_ai.tool.call.arguments': firstOf(record, 'arguments', payload),
    'gen_ai.tool.call.result': firstOf(record, 'result', payload),
  });
}

/** The attributes that have a value. */
function known(values: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const entries = Object.entries(values).filter(
    (entry): entry is [string, JsonValue] => entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}

function callOf(record: LogRecord, { events }: KnownEvent): JsonObject {
  const input = countOf(record, 'input');
  const output = countOf(record, 'output');
  const read = countOf(record, 'cached_read');
  const write = countOf(record, 'cached_write');
  const reasoning = countOf(record, 'reasoning');
  const total = countOf(record, 'total');
  const caches = events.separateCaches === true ? (read ?? 0) + (write ?? 0) : 0;
  // Gemini counts thoughts in addition to the output.
  const isSeparate = reasoning !== undefined && total === (input ?? 0) + (output ?? 0) + reasoning;
  return known({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': textOf(record, 'model'),
    'gen_ai.response.id': identityOf(record, 'response_id'),
    'gen_ai.usage.input_tokens': input === undefined ? undefined : input + caches,
    'gen_ai.usage.output_tokens': output === undefined ? undefined : output + (isSeparate ? reasoning : 0),
    'gen_ai.usage.cache_read.input_tokens': read,
    'gen_ai.usage.cache_creation.input_tokens': write,
    'gen_ai.usage.reasoning.output_tokens': reasoning,
    'gen_ai.usage.cost': numberOf(record, 'cost'),
  });
}

/** The error of a failed event, empty if it has no text; undefined if it did not fail. */
function errorOf(record: LogRecord, kind: EventKind): string | undefined {
  if (kind === 'prompt') return undefined;
  const { success } = record.attributes;
  if (success === true || (typeof success === 'string' && success.toLowerCase() === 'true')) return undefined;
  const said = firstOf(record, 'error', messageIn);
  const status = numberOf(record, 'status') ?? 0;
  if (success === undefined && said === undefined && status < 400) return undefined;
  return said ?? textOf(record, 'result') ?? (status < 400 ? '' : `HTTP ${status}`);
}

/** The message of an error, also inside of a provider's answer. */
function messageIn(error: JsonValue): string | undefined {
  const object = objectOf(error);
  const inner = objectOf(object?.error ?? null)?.message ?? object?.message;
  return typeof inner === 'string' ? inner : asText(error);
}

/** The answers of a batch as messages, by the ids of responses. */
function answersIn(reported: readonly ReportedEvent[]): ReadonlyMap<string, JsonValue> {
  const answers = new Map<string, JsonValue>();
  for (const { record, event } of reported) {
    if (event.kind !== 'answer') continue;
    const id = identityOf(record, 'response_id');
    const content = textOf(record, 'response');
    if (id !== undefined && content !== undefined && !REDACTED.test(content))
      answers.set(id, [{ role: 'assistant', content }]);
  }
  return answers;
}

function firstOf<T>(
  { attributes }: LogRecord,
  key: Key,
  read: (value: JsonValue) => T | undefined,
): T | undefined {
  for (const name of KEYS[key]) {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    const found = value === undefined || value === null ? undefined : read(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function asText(value: JsonValue): string | undefined {
  const found = text(value);
  return typeof found === 'string' ? found : undefined;
}

function textOf(record: LogRecord, key: Key): string | undefined {
  return firstOf(record, key, asText);
}

function identityOf(record: LogRecord, key: Key): string | undefined {
  return firstOf(record, key, (value) => {
    const found = identity(value);
    return typeof found === 'string' ? found : undefined;
  });
}

function countOf(record: LogRecord, key: Key): number | undefined {
  return firstOf(record, key, (value) => {
    const found = count(value);
    return typeof found === 'number' ? found : undefined;
  });
}

/** A number that is not negative, also as text. */
function numberOf(record: LogRecord, key: Key): number | undefined {
  return firstOf(record, key, (value) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
  });
}

function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

function digest(content: string, bytes: number): Uint8Array {
  return createHash('sha256').update(content).digest().subarray(0, bytes);
}
