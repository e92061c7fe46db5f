import {
  AGENT_MARK,
  DECLARED_MARK,
  NO_MAP_NODE,
  NUMBERED_MARK,
  URL_MARK,
  type MapHint,
} from '../../signal/map-hint.js';
import { MAX_NAME } from '../../signal/names.js';
import type { Origin } from '../../signal/origin.js';
import { remembering } from '../../signal/remembering.js';
import type { SpanType } from '../../signal/span.js';
import { headOfUrl, hostName } from '../../signal/url-host.js';
import type { NamedSpan } from './agent-hint.js';
import type { AgentNames } from './agent-names.js';
import { CONVENTIONS } from './clients/index.js';
import type { Field } from './conventions/convention.js';
import { NamePatterns } from './name-patterns.js';
import type { SpanReading } from './span-reading.js';

const SERVER = 2;
const CLIENT = 3;
const PRODUCER = 4;
/** Limit of a name before the cut to the storable length, large enough that this first cut does not change the result. */
const MAX_UNITS = MAX_NAME * 2;
/** Fields that name the agent of its own span, best first. */
const AGENT_FIELDS: readonly Field[] = [
  'agent',
  'openinference_agent',
  'entity',
  'function',
  'workflow',
  'lc_agent',
];
const STEP_SCOPES = new NamePatterns(CONVENTIONS.flatMap(({ stepScopes }) => stepScopes ?? []));
/** Spans named by a class and method are steps of an agent: `ReActAgent.take_step`. */
const METHOD = /^\w+(?:\.\w+)+$/;
/** A process has some tens. */
const MAX_SCOPES = 1024;

/** The service map's hint of a span: see "The service map" in `src/otlp/README.md`. */
export function mapHintOf(
  span: NamedSpan,
  otlpKind: number,
  reading: SpanReading,
  { scope }: Origin,
  names: AgentNames,
): MapHint | null {
  switch (span.type satisfies SpanType) {
    case 'llm':
      return null;
    case 'tool':
      return reading.has('is_mcp') && otlpKind !== SERVER ? declared(mcpServerOf(reading)) : null;
    case 'agent': {
      // Does not call anything.
      if (span.kind === 'agent made') return NO_MAP_NODE;
      const agent = agentOf(span, reading, names);
      return agent === null ? AGENT_MARK : AGENT_MARK + agent;
    }
    case 'http':
      return httpOf(reading);
    case 'db':
      return (
        declared(reading.text('peer') ?? databaseOf(reading) ?? reading.text('memory_store')) ?? NUMBERED_MARK
      );
    case 'custom':
      // A chain at the root names the run.
      if (span.isRoot && span.kind === 'chain') return AGENT_MARK;
      // A server's own span has the best name; the client may not know it.
      if (reading.has('mcp_server') && !span.isRoot) return declared(mcpServerOf(reading)) ?? NO_MAP_NODE;
      return typeof scope?.name === 'string' && isStep(scope.name)
        ? NO_MAP_NODE
        : calledBy(span, otlpKind, reading);
  }
}

/** The agent that a span belongs to; null if unknown. A span of a nested agent may also name its run's agent. */
function agentOf(
  { kind, spanName, isRoot }: NamedSpan,
  reading: SpanReading,
  names: AgentNames,
): string | null {
  for (const field of AGENT_FIELDS) {
    if (field === 'entity' && (kind !== 'agent' || isRoot)) continue;
    const text = reading.text(field);
    const name = text === null ? null : names.nameIn(text);
    if (name !== null) return name;
  }
  const name = kind === 'agent' ? names.nameIn(spanName) : null;
  if (name === null || name === reading.text('model')) return null;
  return !isRoot && METHOD.test(name) ? null : name;
}

function httpOf(reading: SpanReading): MapHint {
  const peer = declared(reading.text('peer') ?? addressOf(reading));
  if (peer !== null) return peer;
  const url = reading.text('url');
  if (url !== null) return URL_MARK + headOfUrl(url);
  return declared(reading.text('rpc_service')) ?? NUMBERED_MARK;
}

/** A step is a node only if its attributes name a called party. */
function calledBy({ kind }: NamedSpan, otlpKind: number, reading: SpanReading): MapHint {
  const peer = declared(reading.text('peer'));
  if (peer !== null) return peer;
  const queue = queueOf(reading);
  if (queue !== null) return NUMBERED_MARK + cut(queue);
  if (reading.has('is_mcp') && otlpKind !== SERVER) {
    return declared(mcpServerOf(reading) ?? 'mcp') ?? NO_MAP_NODE;
  }
  const isOutbound = otlpKind === CLIENT || otlpKind === PRODUCER;
  // The model call already reports the model's server.
  if (!isOutbound || kind !== null || reading.has('provider')) return NO_MAP_NODE;
  return declared(addressOf(reading)) ?? NO_MAP_NODE;
}

function mcpServerOf(reading: SpanReading): string | null {
  return reading.text('mcp_server') ?? reading.text('rpc_service') ?? addressOf(reading);
}

function addressOf(reading: SpanReading): string | null {
  const address = reading.text('server_address');
  return address === null ? null : hostName(address);
}

function queueOf(reading: SpanReading): string | null {
  const system = reading.text('queue_system')?.trim();
  const queue = reading.text('queue')?.trim();
  if (queue === undefined) return system ?? null;
  return system === undefined ? queue : `${system}/${queue}`;
}

function databaseOf(reading: SpanReading): string | null {
  const system = reading.text('db_system')?.trim();
  if (system === undefined) return null;
  const namespace = reading.text('db_namespace')?.trim();
  return namespace === undefined ? system : `${system}/${namespace}`;
}

function declared(name: string | null): MapHint | null {
  return name === null ? null : DECLARED_MARK + cut(name.trim());
}

function cut(name: string): string {
  return name.length > MAX_UNITS ? name.slice(0, MAX_UNITS) : name;
}

/** Whether all spans of a scope of this name are inner steps of a framework. */
const isStep = remembering(MAX_SCOPES, (scope) => STEP_SCOPES.has(scope));
