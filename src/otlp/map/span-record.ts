import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { Origin } from '../../signal/origin.js';
import { LOGGED_SCOPE } from '../../signal/logged-scope.js';
import { remembering } from '../../signal/remembering.js';
import { runContext, type RunContext } from '../../signal/run-context.js';
import type { PromptReference, SpanRecord, AgentHint, RunKind, SpanType } from '../../signal/span.js';
import { carry, type SentOrigin } from '../../signal/sent-span.js';
import { hintOf } from './agent-hint.js';
import { FailedParts } from './failed-parts.js';
import { callOf, costOf } from './call-details.js';
import { AgentNames } from './agent-names.js';
import { toJson } from './any-value.js';
import { AttributeShapes, type Shape } from './attribute-shapes.js';
import { CONVENTIONS } from './clients/index.js';
import { spanUuidAt } from '../wire/ids.js';
import { boundDepth } from './json-text.js';
import { storableName } from './names.js';
import { VERBATIM } from './conventions/jackdaw.js';
import { NamePatterns, inPlaceOfStar } from './name-patterns.js';
import { explainDeployment, type Deployment } from './deployment.js';
import { timesOf } from './span-times.js';
import { applyOwn, type OwnAttributes } from './own-attributes.js';
import { inputData, outputData } from './payloads.js';
import { readEvents, type ReadEvents } from './span-events.js';
import { mapHintOf } from './map-hint-of.js';
import { NO_VERDICT, verdictOf, type Verdict } from './root-span.js';
import { timeToFirstChunk } from './first-chunk.js';
import { deriveMetadata } from './span-metadata.js';
import { scoresOf } from './span-scores.js';
import { errorOf, statusOf } from './span-outcome.js';
import { SpanReading } from './span-reading.js';
import { modelIn, usageIn } from './conventions/model-body.js';
import { parsed } from './messages/texts.js';
import { repeatsUsage, tokensOf } from './span-tokens.js';
import { userOf } from './user-of.js';
import { hasTokens, spanType } from './span-type.js';
import type { Kind } from './conventions/convention.js';
import type { Micros } from '../../signal/time.js';
import type { Provenance } from './provenance.js';
import type { ReadAttributes, ReadSpan } from '../wire/read-span.js';
import type { AnyValue } from '../wire/requests.js';
import { callKey } from '../../signal/call-key.js';
import { USAGE_PARTS, type UsageParts } from '../../signal/call-details.js';
import { usageFigure, usagePartsOf } from '../../signal/usage-object.js';
import { count } from './conventions/readers.js';

const SERVER = 2;
/** Bits of a span's flags: the sender knows whether the parent is remote, and it is. */
const REMOTE = 0x300;
/** Servers, and producers and consumers of messages. */
const SERVICES: ReadonlySet<number> = new Set([SERVER, 4, 5]);

/** Properties of a span, besides its attributes, that help to determine its run's kind. */
interface KindOfSpan {
  /** The name of its instrumentation scope. */
  readonly scope: unknown;
  /** The kind according to attributes or the name of the span. */
  readonly kind: Kind | null;
  readonly otlpKind: number;
  readonly hint: AgentHint | null;
  /** Whether the span only wraps agents. */
  readonly isWrapper: boolean;
}

/**
 * The kind of run that a span indicates (`src/otlp/README.md`, "Runs that are no agent's"): `agent` for an agent, a workflow, a
 * model or a tool, `other` for the creation of an agent, a service, a database or a queue.
 */
function runKindOf(
  { kind, otlpKind, hint, isWrapper, scope }: KindOfSpan,
  reading: SpanReading,
): RunKind | null {
  if (isWrapper) return null;
  if (hasTokens(reading)) return 'agent';
  switch (kind) {
    case 'agent made':
      return 'other';
    case 'agent':
      // A prompt in a log event alone is not a run: the program may trace the run, or never answer.
      return scope === LOGGED_SCOPE ? 'other' : 'agent';
    case 'tool':
    case 'retrieval':
      return ofTool(otlpKind);
    case null:
    case 'custom':
    case 'named root':
      break;
    default:
      return 'agent';
  }
  if (namesItself(hint) || reading.has('is_agent')) return 'agent';
  // A step in an agent framework; other spans determine the kind.
  if (kind === 'custom') return null;
  if (reading.has('is_tool')) return ofTool(otlpKind);
  if (reading.has('is_model')) return 'agent';
  const isService = (['is_message', 'is_db', 'is_http', 'is_rpc'] as const).some((is) => reading.has(is));
  return isService || SERVICES.has(otlpKind) || isOfProgram(scope) ? 'other' : null;
}

const PROGRAM_SCOPES = new NamePatterns(CONVENTIONS.flatMap(({ programScopes }) => programScopes ?? []));
/** Limit of the cache of scopes. */
const MAX_SCOPES = 1024;
const isProgramScope = remembering(MAX_SCOPES, (scope) => PROGRAM_SCOPES.has(scope));

/** Whether a program traces its own functions by the scope. */
function isOfProgram(scope: unknown): boolean {
  return typeof scope === 'string' && isProgramScope(scope);
}

function contextOf(reading: SpanReading): RunContext | null {
  const hasOwner = reading.has('session_id') || reading.has('user_id') || reading.has('user_email');
  const hasVersion = reading.has('environment') || reading.has('release') || reading.has('agent_version');
  // Most spans have none.
  if (!hasOwner && !hasVersion && !reading.has('tags') && !reading.has('repository')) return null;
  return runContext({
    session_id: reading.value('session_id'),
    user_id: userOf(reading),
    tags: reading.value('tags'),
    environment: reading.value('environment'),
    release: reading.value('release'),
    agent_version: reading.value('agent_version'),
    repository: reading.value('repository'),
  });
}

/** A tool server cannot see the calling agent. */
function ofTool(otlpKind: number): RunKind {
  return otlpKind === SERVER ? 'other' : 'agent';
}

/** Whether an agent's or workflow's name comes from an attribute or span name of its convention. */
function namesItself(hint: AgentHint | null): boolean {
  return hint !== null && hint.source !== 'service.name' && hint.source !== 'root span';
}

/** The tokens of a model call. */
interface ResponseUsage {
  readonly input: number | null;
  readonly output: number | null;
  readonly total: number | null;
  readonly parts: UsageParts | null;
}

/** The tokens in a provider's response (`usage` of OpenAI's and Anthropic's APIs, `usageMetadata` of Gemini's). */
function responseUsage(usage: JsonObject): ResponseUsage {
  const input = usageFigure(usage, 'input', wholeNumber) ?? null;
  const output = usageFigure(usage, 'output', wholeNumber) ?? null;
  const total = usageFigure(usage, 'total', wholeNumber) ?? null;
  const parts = usagePartsOf(usage, wholeNumber);
  const sum = (input ?? 0) + (output ?? 0);
  // Anthropic counts cached tokens in addition to the input, all other providers and clients with their names for it within it.
  const cacheTokens =
    total === sum || !('input_tokens' in usage)
      ? 0
      : CACHE_TOKENS.reduce((all, name) => all + (wholeNumber(usage[name]) ?? 0), 0);
  // Gemini counts thoughts in addition to the output.
  const thoughts = parts?.reasoning !== undefined && total === sum + parts.reasoning ? parts.reasoning : 0;
  return {
    input: input === null ? null : input + cacheTokens,
    output: output === null ? null : output + thoughts,
    total,
    parts,
  };
}

const CACHE_TOKENS = ['cache_read_input_tokens', 'cache_creation_input_tokens'];

function wholeNumber(value: JsonValue | undefined): number | undefined {
  const number = value === undefined ? undefined : count(value);
  return typeof number === 'number' ? number : undefined;
}

/** The answering model, or the requested one if the answer shortens its name, as Azure does (`gpt-4` for `gpt-4-turbo`). */
function modelOf(reading: SpanReading): string {
  const model = reading.text('model') ?? '';
  const asked = reading.text('asked_model');
  if (asked === null || asked === model) return model;
  const isAlias = model === reading.text('model_alias');
  if (!isAlias && !asked.slice(asked.lastIndexOf('/') + 1).startsWith(model) && !asked.startsWith(model))
    return model;
  reading.provenance?.decided('model', 'asked_model');
  return asked;
}

/** Identifies a model call by the attributes of its span. @param span of type `llm` */
function callIdentityOf(span: Pick<SpanRecord, 'model'>, reading: SpanReading, origin: Origin): string {
  const scope = origin.scope?.name;
  return callKey({
    scope: typeof scope === 'string' ? scope : '',
    model: span.model,
    provider: reading.text('provider'),
    response: reading.text('response_id') ?? idInAnswer(reading),
  });
}

/** OpenInference clients put the whole response into this attribute, and its id nowhere else. */
const ANSWER = 'output.value';
/** Ids of OpenAI's and Anthropic's responses. OpenAI's newer responses also contain `msg_` ids. */
const IDS = [/"id":\s*"((?:chatcmpl-|resp_)[\w-]+)"/, /"id":\s*"(msg_[\w-]+)"/];

/** Does not parse the response: it may be long, and other attributes mostly have its contents already. */
function idInAnswer(reading: SpanReading): string | null {
  const answer = reading.payloads('output').find(({ source }) => source === ANSWER)?.value;
  if (typeof answer !== 'string') return null;
  for (const id of IDS) {
    const found = id.exec(answer)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}

const WRAPPER_SCOPES: ReadonlySet<unknown> = new Set(
  CONVENTIONS.flatMap(({ wrapperScopes }) => wrapperScopes ?? []),
);

/** Whether a root stands for a trace, as some clients report it, rather than for an agent. */
function wrapsAgents({ scope }: Origin, reading: SpanReading): boolean {
  return WRAPPER_SCOPES.has(scope?.name) && !reading.has('agent');
}

const NO_EVENTS: ReadEvents = { evaluations: [], exception: undefined, chunk: undefined };

export interface MappedSpan {
  readonly record: SpanRecord;
  /** Jackdaw's own attributes, if the span has any. */
  readonly own: OwnAttributes | undefined;
  readonly origin: Origin;
  readonly deployment: Deployment;
  /** The outcome of its run, if it is a root and has one. */
  readonly verdict: Verdict;
}

/** The resource and scope of some spans of a request. */
export interface Under {
  readonly origin: Origin;
  readonly sent: SentOrigin;
  readonly deployment: Deployment;
  /** When they arrived; Infinity if unknown. */
  readonly receivedAt: Micros;
}

/** Maps spans sequentially: it reuses scratch memory and a cache of attribute shapes. */
export class SpanMapper {
  readonly #reading: SpanReading;
  readonly #shapes = new AttributeShapes();
  readonly #names: AgentNames;
  readonly failedParts = new FailedParts();

  /** @param provenance records how spans are mapped */
  constructor(names = new AgentNames(), provenance?: Provenance) {
    this.#names = names;
    this.#reading = new SpanReading(provenance);
  }

  /**
   * Converts one span to a record, as specified in `src/otlp/README.md`.
   *
   * @param traceId as returned by `traceUuidAt`
   * @returns the error, beginning with the name of the field, if the span is rejected
   */
  map(span: ReadSpan, traceId: string, under: Under): MappedSpan | string {
    const { origin, sent: sentOrigin, deployment, receivedAt } = under;
    const { buffer, attributes } = span;
    const spanId = spanUuidAt(buffer, span.traceId.start, span.spanId);
    if (spanId === undefined) return 'spanId: must be 8 bytes that are not all zero';
    const parent = parentOf(span);
    if (parent === undefined) return 'parentSpanId: must be 8 bytes, or nothing for a root span';
    // Some clients mark roots this way.
    const parentId = parent === spanId ? null : parent;
    const times = timesOf(span, receivedAt);
    if (typeof times === 'string') return times;

    const reading = this.#reading;
    reading.begin();
    const shape = this.#shapes.of(attributes);
    const { own, picked } = readAttributes(attributes, shape, reading);
    const { evaluations, exception, chunk } = span.events?.length
      ? readEvents(span.events, reading)
      : NO_EVENTS;
    reading.end();

    const isRoot = parentId === null;
    const spanName = spokenName(span.name ?? '', reading);
    const kind = kindOf(spanName, origin, reading);
    const type = spanType(reading, kind, span.kind ?? 0, isRoot, shape.hasDb, spanName);
    const status = statusOf(span, times.ended, reading, exception, origin);
    const isRunning = status === 'running';
    const name = nameOf(spanName, type, reading);
    const output = outputData(type, reading);
    const errorMessage = errorOf(span, status, reading, exception, output);
    const cost = costOf(reading, origin);
    const tokens = tokensOf(reading, origin, type);
    const named = { type, kind, spanName, name, isRoot };
    const hint = hintOf(named, reading, origin, this.#names);
    const started = times.started;
    const ended = isRunning ? null : times.ended;
    const notes = notesOf(reading);
    if (times.skew !== undefined) notes.clock_skew = times.skew;
    const isRemote: true | null = parentId !== null && ((span.flags ?? 0) & REMOTE) === REMOTE ? true : null;
    const fields = {
      span_id: spanId,
      trace_id: traceId,
      parent_span_id: parentId,
      parent_is_remote: isRemote,
      type,
      name,
      status,
      started_at: started,
      ended_at: ended,
      duration_ms: isRunning ? null : times.durationMs,
      model: type === 'llm' ? storableName(modelOf(reading)) || null : null,
      input_tokens: tokens.input,
      output_tokens: tokens.output,
      total_tokens: tokens.total,
      cost_usd: cost,
      error_message: errorMessage,
      input_data: inputData(type, reading),
      output_data: output,
      agent_hint: hint,
      run_kind: runKindOf(
        {
          kind,
          otlpKind: span.kind ?? 0,
          hint,
          isWrapper:
            ((isRoot || span.kind === SERVER) && this.#names.isWrapper(spanName)) ||
            (isRoot && wrapsAgents(origin, reading)),
          scope: origin.scope?.name,
        },
        reading,
      ),
      context: contextOf(reading),
      map_hint: null,
      prompt: promptOf(reading),
      call: callOf(reading, cost, {
        hasUsage: !repeatsUsage(reading, origin, type),
        firstChunkMs: timeToFirstChunk(reading, times, chunk),
      }),
      scores: null,
    };
    if (type === 'llm') takeFromBodies(fields, reading);
    const { input_data, output_data, context } = fields;
    const mapped = {
      name,
      status,
      error_message: errorMessage,
      started_at: started,
      ended_at: ended,
      input_data,
      output_data,
      context,
      own_context: context,
    };
    const bytes = buffer.subarray(span.start, span.end);
    const record = carry(fields, { bytes, origin: sentOrigin, notes, mapped }, deriveMetadata);
    if (own !== undefined) applyOwn(own, record);
    if (own?.get(VERBATIM) !== true)
      record.map_hint = mapHintOf(
        record.type === type ? named : { ...named, type: record.type },
        span.kind ?? 0,
        reading,
        origin,
        this.#names,
      );
    if (record.type === 'llm' && own?.get(VERBATIM) !== true) {
      const key = callIdentityOf(record, reading, origin);
      record.call = { provider: null, usage: null, cost: null, ...record.call, key };
    }
    if (record.parent_span_id === record.span_id) record.parent_span_id = null;
    // After Jackdaw's own ids are known.
    if (picked !== null || evaluations.length > 0)
      record.scores = scoresOf(record, { picked, evaluations, receivedAt }, reading);
    const verdict =
      isRoot || isRemote === true
        ? verdictOf(
            picked ?? {},
            evaluations.map(({ attributes }) => attributes),
            reading.provenance,
          )
        : NO_VERDICT;
    if (reading.provenance !== undefined) explainDeployment(deployment, reading, reading.provenance);
    reading.provenance?.read(record, reading, own);
    return { record, own, origin, deployment, verdict };
  }
}

/** @returns Jackdaw's own attributes, and those for the outcome of the run */
function readAttributes(
  attributes: ReadAttributes,
  { asked }: Shape,
  reading: SpanReading,
): { readonly own: OwnAttributes | undefined; readonly picked: JsonObject | null } {
  let own: Map<string, JsonValue> | undefined;
  let picked: JsonObject | null = null;
  for (const { at, key, role, isPicked } of asked) {
    const value = attributes.value(at, jsonOf);
    if (role?.is === 'own') (own ??= new Map()).set(key, value);
    else if (role !== undefined) reading.attribute(role, value);
    if (isPicked) (picked ??= {})[key] = value;
  }
  return { own, picked };
}

function jsonOf(value: AnyValue | null | undefined): JsonValue {
  return boundDepth(toJson(value));
}

/** Undefined for an invalid id. Some clients send zeros if there is no parent. */
function parentOf({ buffer, traceId, parentSpanId: id }: ReadSpan): string | null | undefined {
  if (id.end === id.start) return null;
  return spanUuidAt(buffer, traceId.start, id) ?? (id.end - id.start === 8 ? null : undefined);
}

/** The kind according to attributes or the name of the span. */
function kindOf(spanName: string, { scope }: Origin, reading: SpanReading): Kind | null {
  if (reading.has('is_step')) {
    reading.provenance?.decided('type', 'is_step');
    return 'custom';
  }
  const own = reading.value('kind') as Kind | null;
  if (own !== null) {
    reading.provenance?.decided('type', 'kind');
    return own;
  }
  const kind = kindByName(scope?.name, spanName);
  if (kind !== null)
    reading.provenance?.decided('type', 'name of the span, by the naming rules of its scope');
  return kind;
}

/**
 * Takes the model and the tokens of a model call from its response or request if no attribute has them, for clients such as Agno's
 * and Haystack's that send them only there.
 */
function takeFromBodies(span: Omit<SpanRecord, 'metadata'>, reading: SpanReading): void {
  const { provenance } = reading;
  const hasTokens = span.input_tokens !== null || span.output_tokens !== null || span.total_tokens !== null;
  if (span.model !== null && hasTokens) return;
  // Parsed once, because parsing counts toward a limit per request.
  const outputs = bodiesIn(reading, 'output');
  if (span.model === null) {
    const model = firstIn(outputs, modelIn) ?? firstIn(bodiesIn(reading, 'input'), modelIn);
    span.model = storableName(model ?? '') || null;
    if (span.model !== null) provenance?.decided('model', 'model in the response or request');
  }
  const found = hasTokens ? undefined : firstIn(outputs, usageIn);
  if (found === undefined) return;
  const usage = responseUsage(found);
  for (const field of ['input_tokens', 'output_tokens', 'total_tokens'] as const)
    provenance?.decided(field, 'usage in the response');
  span.input_tokens = usage.input;
  span.output_tokens = usage.output;
  span.total_tokens = usage.total;
  if (usage.parts === null) return;
  for (const part of USAGE_PARTS)
    if (usage.parts[part] !== undefined && span.call?.usage?.[part] === undefined)
      provenance?.decided(part, 'usage in the response');
  span.call = {
    provider: null,
    cost: null,
    ...span.call,
    usage: { ...usage.parts, ...span.call?.usage },
  };
}

function bodiesIn(reading: SpanReading, field: 'input' | 'output'): JsonValue[] {
  return [...reading.payloads(field)].map(({ value }) => parsed(value));
}

function firstIn<T>(bodies: readonly JsonValue[], read: (body: JsonValue) => T | undefined): T | undefined {
  for (const body of bodies) {
    const found = read(body);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The prompt version that a span names; name and version must come from the same convention. */
function promptOf(reading: SpanReading): PromptReference | null {
  for (const [nameField, versionField] of PROMPT_FIELDS) {
    const name = reading.text(nameField);
    const version = reading.count(versionField);
    if (name !== null && version !== null) return { name, version };
  }
  return null;
}

const PROMPT_FIELDS = [
  ['langfuse_prompt_name', 'langfuse_prompt_version'],
  ['traceloop_prompt_name', 'traceloop_prompt_version'],
  ['gen_ai_prompt_name', 'gen_ai_prompt_version'],
] as const;

const NO_NAME = 'unnamed';
const AROUND = CONVENTIONS.flatMap(({ toolNames }) => toolNames ?? []);

/** The readable name of a span. @param sent the name, which some clients send as a template with the filled-in text in an attribute */
function spokenName(sent: string, reading: SpanReading): string {
  return sent.includes('{') ? (reading.text('spoken_name') ?? sent) : sent;
}

/** The shown name of a span; for a tool, its name. @param spanName the readable name */
function nameOf(spanName: string, type: SpanType, reading: SpanReading): string {
  const tool = type === 'tool' ? storableName(toolOf(spanName, reading)) : '';
  if (tool === '') reading.provenance?.decided('name', 'name of the span');
  return tool || storableName(spanName) || NO_NAME;
}

function toolOf(spanName: string, reading: SpanReading): string {
  const tool = reading.text('tool_name');
  if (tool === null) {
    reading.provenance?.decided('name', 'name of the span, reduced to the tool');
    return toolIn(spanName);
  }
  reading.provenance?.decided('name', 'tool_name');
  return tool;
}

function toolIn(spanName: string): string {
  for (const around of AROUND) {
    const tool = inPlaceOfStar(spanName, around);
    if (tool !== undefined) return tool;
  }
  return '';
}

const ANY = '*';

/** Names of spans by the name of their scope. */
const KINDS: ReadonlyMap<string, readonly { readonly names: NamePatterns; readonly kind: Kind }[]> = new Map(
  CONVENTIONS.flatMap(({ spanNames }) =>
    spanNames === undefined
      ? []
      : [
          [
            spanNames.scope,
            Object.entries(spanNames.kinds).map(([pattern, kind]) => ({
              names: new NamePatterns([pattern]),
              kind,
            })),
          ],
        ],
  ),
);

/** Names of spans that are unique regardless of their scope. */
const EVERYWHERE: ReadonlyMap<string, Kind> = new Map(
  CONVENTIONS.flatMap(({ spanNames }) => (spanNames?.scope === ANY ? Object.entries(spanNames.kinds) : [])),
);

/** The kind of a span by its name, for clients that show it only there. @param scope the name of its instrumentation scope */
function kindByName(scope: unknown, spanName: string): Kind | null {
  const kinds = typeof scope === 'string' ? KINDS.get(scope) : undefined;
  return kinds?.find(({ names }) => names.has(spanName))?.kind ?? EVERYWHERE.get(spanName) ?? null;
}

/** The names in `metadata` that come from the reading of a span (`span-metadata-names.ts`). */
function notesOf(reading: SpanReading): JsonObject {
  const notes: JsonObject = {};
  if (reading.has('session_id')) notes.session_id = reading.value('session_id');
  if (reading.has('user_id')) notes.user_id = reading.value('user_id');
  const tags = reading.value('tags');
  if (tags !== null) notes.tags = tags;
  if (reading.has('provider')) notes.provider = reading.value('provider');
  return notes;
}
