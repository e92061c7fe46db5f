import { remembering } from '../../../signal/remembering.js';
import { DIMENSIONS } from '../../../signal/run-context.js';
import { figureOfName, type UsageFigure } from '../../../signal/usage-object.js';
import { isMessage } from '../messages/message.js';
import { parsed } from '../messages/texts.js';
import { FIELDS, type Field, type Kind, type Reader, type Source } from './convention.js';
import { isModelCall } from './model-body.js';
import { count, identity, only, seconds, texts, toolArguments } from './readers.js';
import { useOf, type PrefixUse, type Use } from './sources.js';
import { usageObject } from './usage-readers.js';

/** Rank below all sources of the tables, so that a known key always wins. */
const RANK = 200;
/** Maximum length of a key. */
const LONGEST_KEY = 200;
/** Maximum number of cached keys. */
const MAX_KNOWN = 4096;

/** Namespaces of OpenTelemetry whose keys resemble those of a model's client. */
const STANDARD: ReadonlySet<string> = new Set(
  (
    'browser|client|cloud|code|container|db|deployment|destination|device|disk|enduser|error|exception|faas|' +
    'feature_flag|file|graphql|host|http|hw|jvm|k8s|log|mcp|messaging|net|network|os|otel|peer|process|rpc|' +
    'server|service|source|system|telemetry|thread|tls|url|user_agent|vcs'
  ).split('|'),
);
/** Words in keys of token numbers that are not the usage of this span. */
const NO_USAGE: ReadonlySet<string> = new Set(
  (
    'average|avg|budget|budgets|config|cost|costs|estimate|estimated|limit|limits|max|maximum|metadata|min|' +
    'options|params|parameters|price|prices|pricing|quota|rate|rate_limit|ratelimit|remaining|settings|threshold'
  ).split('|'),
);
const USAGE: ReadonlySet<string> = new Set(
  'usage|token_usage|tokens|token_count|token_counts|usage_metadata|usage_details|llm_usage'.split('|'),
);

/** Words for kinds of spans, in lower case with underscores. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...words('llm|llm_call|llm_request|chat|chat_model|chat_completion|completion|text_completion', 'llm'),
  ...words('generation|generate|model|model_call|model_request|embedding|embeddings|embedder|embed', 'llm'),
  ...words('tool|tool_call|tool_execution|tool_use|execute_tool|function_call', 'tool'),
  ...words('agent|agent_run|agent_call|invoke_agent|agent_execution|subagent', 'agent'),
  ...words('workflow|workflow_run|flow|pipeline|crew', 'named root'),
  ...words('retriever|retrieval|rag|vector_search', 'retrieval'),
  ...words('chain', 'chain'),
  ...words('task|step|node|memory|guardrail|evaluator|evaluation|scorer|prompt|parser|reranker', 'custom'),
  ...words('workflow_step|middleware|workspace|summary', 'custom'),
]);
/** Ambiguous words, which are ignored in a bare `kind` or `type`. */
const AMBIGUOUS: ReadonlySet<string> = new Set(
  'chat|completion|generate|model|embed|flow|pipeline|crew|chain|task|step|node|memory|prompt|parser'.split(
    '|',
  ),
);
/** Names before `kind` or `type`. */
const SPANS: ReadonlySet<string> = new Set(['span', 'observation', 'run', 'step']);

/** A condition on the other keys of the span. */
type Need =
  | 'nothing'
  | 'usage'
  | 'model client'
  | 'model client or payload'
  | 'session in its namespace'
  | 'kind in its namespace';

interface Guess extends Omit<Source, 'rank'> {
  readonly field: Field;
  /** Is added to {@link RANK}. */
  readonly place: number;
  readonly need: Need;
  /** The first name of the key. */
  readonly namespace?: string;
}

/** The meaning of a key that no convention lists. */
export type GeneralRole =
  | { readonly is: 'source'; readonly uses: readonly Use[] }
  | { readonly is: 'part'; readonly use: PrefixUse; readonly path: string };

/** The uses of an attribute, by its key and, if no convention lists it, by the other keys of its span. */
export type Role = GeneralRole | { readonly is: 'own' } | undefined;

/**
 * The meaning of the keys of one span that no convention lists, by their shape: usage, model, messages, tools, payloads, session and
 * kind under any prefix. Spans of services and databases, limits of tokens and words with other meanings do not count.
 *
 * @param listed the role of each key in the conventions
 */
export function generalRoles(
  keys: readonly string[],
  listed: readonly Role[],
): ReadonlyMap<string, GeneralRole> {
  const roles = new Map<string, GeneralRole>();
  const unlisted = keys.filter((key, i) => listed[i] === undefined && key.length <= LONGEST_KEY);
  if (unlisted.length === 0) return roles;
  const prefixes = countPrefixes(unlisted);
  const guesses = unlisted.map((key) => {
    const found = guessesOf(key);
    const mayBePrefixed = found.every(({ field }) => field === 'kind');
    const isPrefixed = mayBePrefixed && (prefixes.get(prefixOf(key)) ?? 0) >= LEAST_PREFIXED;
    const afterPrefix = isPrefixed ? guessesOf(key.replace('_', '.')) : [];
    return { key, found: afterPrefix.length > 0 ? afterPrefix : found, part: partOf(key) };
  });
  const span = evidenceOf(
    listed,
    guesses.flatMap(({ found }) => found),
    guesses.some(({ part }) => part !== undefined),
  );
  for (const { key, found, part } of guesses) {
    if (part !== undefined) {
      if (!span.isService) roles.set(key, part);
      continue;
    }
    const counted = found.filter((guess) => counts(guess, span));
    const uses = [...counted.map((guess) => toUse(key, guess)), ...kindsOf(key, counted, span)];
    if (uses.length > 0) roles.set(key, { is: 'source', uses });
  }
  return roles;
}

/** As many keys without dots need the same first word, so that it counts as a prefix: `acme_kind`, `acme_model`, `acme_prompt`. */
const LEAST_PREFIXED = 3;

function countPrefixes(keys: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) {
    const prefix = prefixOf(key);
    if (prefix !== '') counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  return counts;
}

/** The first word of a key in snake case; empty for others. */
function prefixOf(key: string): string {
  return /^([a-z][a-z\d]*)_[a-z\d_]+$/.exec(key)?.[1] ?? '';
}

/** Facts about a span from its keys. */
interface Evidence {
  /** Whether a convention reads the kind from another key. */
  readonly hasKind: boolean;
  /** Whether it is a request, a query or a message between processes, without model usage. */
  readonly isService: boolean;
  readonly hasUsage: boolean;
  readonly hasModel: boolean;
  readonly hasMessages: boolean;
  readonly hasPayload: boolean;
  readonly hasAgent: boolean;
  readonly namespaces: Namespaces;
  /** Whether it has the name of a tool, and its arguments or result. */
  readonly isTool: boolean;
  /** Whether any key indicates a client of models. */
  readonly isOfModels: boolean;
}

/** The first names of the keys of each field. */
type Namespaces = ReadonlyMap<Field, ReadonlySet<string | undefined>>;

function namespacesOf(guesses: readonly Guess[]): Namespaces {
  const found = new Map<Field, Set<string | undefined>>();
  for (const { field, namespace } of guesses) {
    const known = found.get(field);
    if (known === undefined) found.set(field, new Set([namespace]));
    else known.add(namespace);
  }
  return found;
}

const SERVICE: readonly Field[] = ['is_http', 'is_db', 'is_rpc', 'is_message', 'queue', 'is_mcp'];

/** Fields whose keys say nothing about the kind of a client. */
const WEAK: ReadonlySet<Field> = new Set(['kind', 'session_id', 'user_id', 'tags', ...DIMENSIONS]);

function evidenceOf(roles: readonly Role[], guesses: readonly Guess[], hasParts: boolean): Evidence {
  const listed = new Set<Field>();
  let listsMessages = hasParts;
  for (const role of roles)
    for (const { field, shape } of usesOf(role)) {
      const name = FIELDS[field];
      if (name !== undefined) listed.add(name);
      listsMessages ||= shape === 'messages';
    }
  const guessed = new Set(guesses.filter(({ need }) => need === 'nothing').map(({ field }) => field));
  const has = (field: Field): boolean => listed.has(field) || guessed.has(field);
  const hasMessages = listsMessages || guesses.some(({ shape }) => shape === 'messages');
  const reportsUsage = listed.has('input_tokens') || listed.has('output_tokens');
  const figures = guesses.filter(({ field }) => USAGE_FIELDS.has(field));
  // Wallets and parsers also have tokens.
  const isCall = figures.length > 0 && (has('model') || hasMessages || has('kind') || listed.has('provider'));
  const isPair = (['input_tokens', 'output_tokens'] as const).every((of) =>
    figures.some(({ field, read }) => field === of && read === undefined),
  );
  const hasUsage = reportsUsage || isCall || isPair;
  const telling = new Set(guesses.filter(({ field }) => !WEAK.has(field)).map(({ namespace }) => namespace));
  const namespaces = namespacesOf(guesses.filter(({ need }) => need !== 'kind in its namespace'));
  const inOneNamespace = (one: Field, other: Field): boolean => {
    const others = namespaces.get(other);
    return (
      others !== undefined && [...(namespaces.get(one) ?? [])].some((namespace) => others.has(namespace))
    );
  };
  const isTool = inOneNamespace('tool_name', 'arguments') || inOneNamespace('tool_name', 'result');
  return {
    hasKind: listed.has('kind'),
    isService: !reportsUsage && !isCall && SERVICE.some((field) => listed.has(field)),
    hasUsage,
    hasModel: has('model'),
    hasMessages,
    hasPayload: has('input') || has('output'),
    hasAgent: listed.has('agent') || guesses.some(({ field }) => field === 'agent'),
    namespaces,
    isTool,
    isOfModels:
      hasUsage ||
      hasMessages ||
      isTool ||
      // `acme.question` next to `acme.answer`.
      inOneNamespace('input', 'output') ||
      has('kind') ||
      has('tool_name') ||
      listed.has('model') ||
      // `acme.kind` next to `acme.question`.
      guesses.some(({ field, namespace }) => field === 'kind' && telling.has(namespace)),
  };
}

function counts({ field, need, namespace }: Guess, span: Evidence): boolean {
  if (field === 'kind' || field === 'is_failed') {
    if (span.hasKind || span.isService) return false;
  } else if (span.isService) {
    return field === 'session_id' || field === 'user_id';
  }
  switch (need) {
    case 'nothing':
      return true;
    case 'usage':
      return span.hasUsage;
    case 'model client':
      return span.isOfModels;
    case 'model client or payload':
      return span.isOfModels || span.hasPayload;
    case 'session in its namespace':
      return span.isOfModels || span.hasPayload || hasNamespace(span, 'session_id', namespace);
    case 'kind in its namespace':
      return hasNamespace(span, 'kind', namespace);
  }
}

function hasNamespace({ namespaces }: Evidence, field: Field, namespace: string | undefined): boolean {
  return namespace !== undefined && namespaces.get(field)?.has(namespace) === true;
}

/** The kind of span that a key implies, for spans that name none. */
function kindsOf(key: string, found: readonly Guess[], span: Evidence): Use[] {
  if (span.hasKind || span.isService) return [];
  return found.flatMap(({ field, place, shape, read, need }) => {
    if (need === 'kind in its namespace') return [];
    switch (field) {
      case 'input_tokens':
      case 'output_tokens':
        // An agent that reports the total of its calls names no model.
        return span.hasModel || !span.hasAgent
          ? [useOf(key, 'is_model', { rank: RANK, read: read ?? count })]
          : [];
      case 'tool_name':
        return (place > 0 && !span.isTool) || span.hasUsage || span.hasMessages
          ? []
          : [useOf(key, 'is_tool', { rank: RANK })];
      case 'agent':
        // A failed model call may name its agent and nothing else.
        return span.hasModel && !span.isOfModels && !span.hasPayload
          ? []
          : [useOf(key, 'is_agent', { rank: RANK, ...(read && { read }) })];
      case 'input':
      case 'output':
        if (shape === 'messages')
          return span.hasModel
            ? [useOf(key, 'is_model', { rank: RANK + 1, read: (value) => messages(value) && true })]
            : [];
        return span.hasUsage ? [] : [useOf(key, 'is_model', { rank: RANK + 2, read: modelCall })];
      default:
        return [];
    }
  });
}

function toUse(key: string, { field, place, shape, read }: Guess): Use {
  return useOf(key, field, { rank: RANK + place, ...(shape && { shape }), ...(read && { read }) });
}

function usesOf(role: Role): readonly Use[] {
  return role?.is === 'source' ? role.uses : role?.is === 'part' ? [role.use] : [];
}

/** Messages in single attributes: `acme.messages.0.content`. */
const INPUT_PARTS: PrefixUse = partsOf('input', '*.messages.');
const OUTPUT_PARTS: PrefixUse = partsOf('output', '*.output_messages.');
const PARTS = /^((?:.*?[._])?(?:messages|prompts|completions|choices))\.(\d{1,4}\..*)$/s;

function partOf(key: string): GeneralRole | undefined {
  const [, list = '', path] = key.includes('s.') ? (PARTS.exec(key) ?? []) : [];
  if (path === undefined || isStandard(namesIn(key))) return undefined;
  const isOutput = /output|response|completions$|choices$/i.test(list);
  return { is: 'part', use: isOutput ? OUTPUT_PARTS : INPUT_PARTS, path };
}

function partsOf(field: 'input' | 'output', key: string): PrefixUse {
  return { ...useOf(key, field, { rank: RANK, shape: 'messages' }), prefix: key, isNumbered: true };
}

/** The possible meaning of a key, without the other keys of its span. */
const guessesOf = remembering(MAX_KNOWN, (key: string): readonly Guess[] => {
  const names = namesIn(key);
  const last = names.at(-1) ?? '';
  const before = names.at(-2) ?? '';
  if (last === '' || isStandard(names)) return [];
  const namespace = names.length > 1 ? names[0] : undefined;
  const own = personOf(names, last, before);
  if (own !== undefined) return [{ ...own, ...(namespace !== undefined && { namespace }) }];
  if (COST.test(`${before}.${last}`)) return [{ field: 'cost', place: 1, need: 'usage' }];
  if (names.slice(0, -1).some((name) => NO_USAGE.has(name))) return [];
  const usage = usageOf(names, last, before);
  const words =
    WORDS.get(`${before}.${last}`) ??
    (names.length > 1 || SPEAKING.has(last) ? WORDS.get(last) : undefined) ??
    [];
  // `acme.tokens.input` is no input.
  const kinds = kindOf(last, before);
  const isName = last === 'name' && names.length === 2 && kinds.length === 0;
  const guesses = [
    ...usage,
    ...kinds,
    ...firstChunkOf(last),
    ...(usage.length > 0 ? [] : words),
    ...(isName ? NAME_OF_KIND : []),
  ];
  return namespace === undefined ? guesses : guesses.map((guess) => ({ ...guess, namespace }));
});

/** `acme.name` next to `acme.kind`: the name of the tool or agent. */
const NAME_OF_KIND: readonly Guess[] = (['tool_name', 'openinference_agent'] as const).map((field) => ({
  field,
  place: 5,
  need: 'kind in its namespace',
}));

/** `acme.cost.total`. */
const COST = /^costs?\.(?:total|usd|total_usd)$/;

/** Gateways name the tool of an MCP call in a key of their own. */
function isStandard([first = '', second = '']: readonly string[]): boolean {
  return STANDARD.has(first) && !(first === 'mcp' && second === 'tool');
}

/** Usage in an event's attribute that no convention lists. */
export function usageInEvent(key: string): readonly Use[] {
  if (key.length > LONGEST_KEY) return [];
  const found = guessesOf(key).filter(({ field }) => USAGE_FIELDS.has(field));
  return found.map((guess) => toUse(key, guess));
}

/** Splits `acme.llmCall:inputTokens` into `acme`, `llm_call` and `input_tokens`. */
function namesIn(key: string): string[] {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll('-', '_')
    .split(/[.:/]/);
}

const SESSIONS: ReadonlySet<string> = new Set([
  'session_id',
  'conversation_id',
  'thread_id',
  'chat_session_id',
  'chat_id',
  'dialog_id',
]);

/** An id rather than a text or an object. */
const plainId: Reader = (value) =>
  typeof value === 'string' && /^[\w.:@-]{1,128}$/.test(value) ? identity(value) : undefined;

const listOfTexts: Reader = (value) => {
  const list = parsed(value);
  return Array.isArray(list) ? texts(list) : undefined;
};

/** The name of an agent rather than a sentence or an object. */
const plainName: Reader = (value) =>
  typeof value === 'string' && value.length <= 100 && /^[\p{L}\p{N}][\p{L}\p{N} .:_-]*$/u.test(value)
    ? value
    : undefined;

/** A failure in words; `false` and `none` are none. */
const failure: Reader = (value) =>
  value === true || (typeof value === 'string' && !/^(?:|false|none|null|no|0|ok)$/i.test(value.trim()))
    ? true
    : undefined;
const failedState: Reader = (value) =>
  typeof value === 'string' && /^(?:error|errored|fail|failed|failure|exception)$/i.test(value)
    ? true
    : undefined;
const failureText: Reader = (value) =>
  typeof value === 'string' && failure(value) === true ? value : undefined;

/** Names before a program's own values: `acme.metadata.environment`. */
const PROPERTIES: ReadonlySet<string> = new Set(['metadata', 'properties', 'attributes']);

/** Session, user, tags and versions. */
function personOf(names: readonly string[], last: string, before: string): Guess | undefined {
  const need = 'nothing';
  // Langfuse has separate attributes for both; its other metadata is for display.
  if (names[0] === 'langfuse') return undefined;
  if (SESSIONS.has(last)) return { field: 'session_id', place: last === 'thread_id' ? 2 : 0, need };
  if (last === 'user_id' || last === 'end_user_id') return { field: 'user_id', place: 0, need };
  // Tags of a tool do not belong to the run.
  if (last === 'tags' && before !== 'tool')
    return {
      field: 'tags',
      place: before === '' ? 1 : 0,
      need: before === '' ? 'model client' : 'model client or payload',
      read: listOfTexts,
    };
  if (last === 'agent_version') return { field: 'agent_version', place: 0, need: 'model client or payload' };
  if ((last === 'environment' || last === 'release') && PROPERTIES.has(before))
    return { field: last, place: 0, need: 'model client or payload' };
  if (last !== 'id') return undefined;
  if (before === 'session' || before === 'conversation') return { field: 'session_id', place: 1, need };
  if (before === 'thread' && names.length > 2) return { field: 'session_id', place: 3, need };
  return before === 'user' || before === 'end_user' ? { field: 'user_id', place: 1, need } : undefined;
}

const FIGURES: readonly UsageFigure[] = [
  'input',
  'output',
  'total',
  'cached_read',
  'cached_write',
  'reasoning',
  'audio_input',
  'audio_output',
];

const USAGE_FIELDS: ReadonlySet<Field> = new Set(FIGURES.map(fieldOfFigure));

/** Names of a provider's own usage object next to its figures: `acme.usage.metadata`. */
const RAW: ReadonlySet<string> = new Set(['metadata', 'raw', 'details']);

function usageOf(names: readonly string[], last: string, before: string): Guess[] {
  const isUsage = USAGE.has(last) ? last !== 'tokens' : USAGE.has(before) && RAW.has(last);
  if (isUsage || last === 'metrics')
    return FIGURES.map((figure) => ({
      field: fieldOfFigure(figure),
      place: 5,
      // Metrics also exist for other things than usage.
      need: last === 'metrics' ? 'model client' : 'usage',
      read: usageObject(figure),
    }));
  const figure = figureOfName(
    last,
    before,
    names.some((name) => USAGE.has(name)),
  );
  return figure === undefined ? [] : [{ field: fieldOfFigure(figure), place: 0, need: 'usage' }];
}

function fieldOfFigure(figure: UsageFigure): Field {
  return figure === 'input' || figure === 'output' || figure === 'total' ? `${figure}_tokens` : figure;
}

const FIRST_CHUNK =
  /^(?:(ms_to_first_(?:token|chunk))|(?:time_to_first_(?:token|chunk|byte)|ttf[bct])(?:_(?:(ms|millis|milliseconds)|s|sec|seconds))?)$/;

/** `acme.ttft_ms`, `acme.time_to_first_token`. */
function firstChunkOf(last: string): Guess[] {
  const found = last.includes('_first_') || last.startsWith('ttf') ? FIRST_CHUNK.exec(last) : null;
  if (found === null) return [];
  const [name, inName, inUnit] = found;
  const need = 'model client';
  if (inName !== undefined || inUnit !== undefined) return [{ field: 'first_chunk', place: 0, need }];
  if (/_s(?:ec(?:onds)?)?$/.test(name)) return [{ field: 'first_chunk', place: 1, need, read: seconds }];
  return [{ field: 'first_token', place: 0, need }];
}

/** `acme.span.kind`, `span_type`, `acme.type`, `acme.span`. */
function kindOf(last: string, before: string): Guess[] {
  const named = /^(?:(.+)_)?(?:kind|type)$/.exec(last);
  if (named === null && !KIND_NAMES.has(last) && !(before === 'operation' && last === 'name')) return [];
  const whose = named?.[1] ?? (named === null ? 'operation' : before);
  const isOfSpan = SPANS.has(whose);
  return [
    {
      field: 'kind',
      place: isOfSpan ? 0 : 1,
      need: isOfSpan ? 'nothing' : 'model client or payload',
      read: isOfSpan ? kind : plainKind,
    },
  ];
}

const KIND_NAMES: ReadonlySet<string> = new Set(['operation', 'op', 'span']);

const kind: Reader = (value) => (typeof value === 'string' ? KINDS.get(wordOf(value)) : undefined);
const plainKind: Reader = (value) =>
  typeof value === 'string' && !AMBIGUOUS.has(wordOf(value)) ? kind(value) : undefined;

function wordOf(value: string): string {
  if (value.length > 40) return '';
  return (namesIn(value.trim()).at(-1) ?? '').replaceAll(' ', '_');
}

/** Words that are also read without a prefix. */
const SPEAKING: ReadonlySet<string> = new Set(
  'model_name|model_id|messages|input_messages|output_messages|tool_name|tool_args|tool_input|tool_output'.split(
    '|',
  ),
);

const messages: Reader = (value) => {
  const list = parsed(value);
  return Array.isArray(list) &&
    list.some((entry) => isMessage(Array.isArray(entry) ? (entry[0] ?? null) : entry))
    ? list
    : undefined;
};

const modelCall: Reader = (value) => (isModelCall(value) ? true : undefined);

/** Meanings of the last names of a key. */
const WORDS: ReadonlyMap<string, readonly Guess[]> = new Map<string, readonly Guess[]>([
  ...guess(
    'model|model_name|model_id|model.name|model.id|response_model|response.model',
    'model',
    0,
    'nothing',
  ),
  ...guess('request_model|request.model', 'model', 1, 'nothing'),
  ...guess('provider|provider.name|provider_name|model_provider', 'provider', 0, 'model client'),
  ...guess('agent.name|agent_name', 'agent', 0, 'session in its namespace'),
  ...guess('agent', 'agent', 1, 'session in its namespace', plainName),
  ...guess('workflow.name|workflow_name|flow_name|crew_name', 'workflow', 0, 'session in its namespace'),
  ...guess('pipeline.name|pipeline_name', 'workflow', 1, 'model client or payload'),
  ...guess('tool.name|tool_name|tool.function_name', 'tool_name', 0, 'nothing'),
  ...guess('function.name|function_name|call.name', 'tool_name', 1, 'model client'),
  ...guess('tool', 'tool_name', 2, 'model client', plainId),
  ...guess(
    'tool.arguments|tool.args|tool_args|tool_arguments|tool.input|tool_input|tool.params|tool_params',
    'arguments',
    0,
    'nothing',
  ),
  ...guess(
    'arguments|args|tool.parameters|tool_parameters|call.arguments',
    'arguments',
    1,
    'model client',
    toolArguments,
  ),
  ...guess('tool.result|tool.output|tool_result|tool_output|call.result', 'result', 0, 'nothing'),
  ...guess('tool.response|tool_response|tool.return_value|tool.return', 'result', 1, 'nothing'),
  ...guess('function.result|function.output|function.response|function_result', 'result', 2, 'model client'),
  ...asked('messages|input_messages|input.messages|prompt.messages|prompt_messages|chat_history', 0),
  ...answered('output_messages|output.messages|response_messages|response.messages', 0),
  ...guess('input|inputs|input_json|input_data|input_value|input.value', 'input', 10, 'nothing'),
  ...guess('output|outputs|output_json|output_data|output_value|output.value', 'output', 10, 'nothing'),
  ...guess('prompt|prompt.text|prompt_text|request|input_text|input.text', 'input', 11, 'model client'),
  ...guess('question|user_input|user_message|user_prompt|user_query|query', 'input', 12, 'model client'),
  ...guess(
    'response|completion|output_text|output.text|output.content|response.text|response_text|response.content',
    'output',
    11,
    'model client',
  ),
  ...guess('answer|reply|final_answer|final_output|result', 'output', 12, 'model client'),
  ...guess('completion.text|completion_text|assistant_message', 'output', 12, 'model client'),
  ...guess('documents|retrieved_documents|chunks', 'output', 13, 'model client'),
  ...guess('system_prompt|system_instructions|system_message|instructions', 'system', 0, 'model client'),
  ...guess('tools|tool_definitions|tool.definitions|available_tools', 'tools', 0, 'model client'),
  ...guess('finish_reason|finish_reasons|stop_reason', 'finish_reasons', 0, 'model client'),
  ...guess('response_id|response.id', 'response_id', 0, 'usage'),
  ...guess('cost|cost_usd|total_cost|total_cost_usd', 'cost', 0, 'usage'),
  ...guess('estimated_cost|estimated_cost_usd', 'cost', 2, 'usage'),
  ...guess('is_error', 'is_failed', 0, 'model client', only(true)),
  ...guess('tool.success|tool_success', 'is_failed', 1, 'model client', only(false)),
  ...guess('status', 'is_failed', 2, 'model client', failedState),
  ...guess('error.message|error_message', 'status_message', 0, 'nothing'),
  [
    'error',
    [
      { field: 'is_failed', place: 3, need: 'model client', read: failure },
      { field: 'status_message', place: 1, need: 'model client', read: failureText },
    ],
  ],
  ...guess('session|conversation', 'session_id', 4, 'model client or payload', plainId),
  ...guess('user|end_user|enduser|user.name|user_name', 'user_id', 4, 'session in its namespace', plainId),
]);

type Row = readonly [name: string, guesses: readonly Guess[]];

function guess(names: string, field: Field, place: number, need: Need, read?: Reader): Row[] {
  return names.split('|').map((name) => [name, [{ field, place, need, ...(read && { read }) }]]);
}

function asked(names: string, place: number): Row[] {
  return names.split('|').map((name) => [name, [messagesAt('input', place)]]);
}

function answered(names: string, place: number): Row[] {
  return names.split('|').map((name) => [name, [messagesAt('output', place)]]);
}

function messagesAt(field: 'input' | 'output', place: number): Guess {
  return { field, place, need: 'nothing', shape: 'messages', read: messages };
}

function words(list: string, of: Kind): (readonly [string, Kind])[] {
  return list.split('|').map((word) => [word, of]);
}
