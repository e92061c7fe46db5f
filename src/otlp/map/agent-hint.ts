import { LOGGED_SCOPE } from '../../signal/logged-scope.js';
import type { Origin } from '../../signal/origin.js';
import type { AgentHint, SpanRecord, SpanType } from '../../signal/span.js';
import { CONVENTIONS } from './clients/index.js';
import type { AgentNames } from './agent-names.js';
import type { Field, Kind } from './conventions/convention.js';
import { storableName } from './names.js';
import type { SpanReading } from './span-reading.js';
import type { Ground, Provenance } from './provenance.js';

/** Attributes of the resource that name the project of a program without `service.name`. */
const PROJECTS = ['openinference.project.name', 'arize.project.name'];
const NO_PROJECT = 'default';
/** Scopes whose model calls decide how a run went, because its root does not report it. */
const LAST_CALLS: ReadonlySet<unknown> = new Set([
  LOGGED_SCOPE,
  ...CONVENTIONS.flatMap(({ lastCalls }) => lastCalls ?? []),
]);

/** Properties of a span, besides its attributes, that help to name its run's agent. */
export interface NamedSpan {
  readonly type: SpanType;
  readonly kind: Kind | null;
  /** As it was sent. */
  readonly spanName: string;
  /** As the record shows it. */
  readonly name: string;
  readonly isRoot: boolean;
}

/** The best hint of a span about its run's agent, in the order of `src/otlp/README.md`. */
export function hintOf(
  span: NamedSpan,
  reading: SpanReading,
  origin: Origin,
  names: AgentNames,
): AgentHint | null {
  const own = ownName(span, reading, names);
  if (own === null) return hintOfResource(span, origin, names, reading.provenance);
  return { source: isDeciding(span.type, origin) ? 'agent span' : sourceOf(span, origin), name: own };
}

/** The hint of a mapped span after a change of its resource. A name from the span's own attributes or name stays. */
export function hintAfterChange(
  span: SpanRecord,
  before: Origin,
  after: Origin,
  names: AgentNames,
): AgentHint | null {
  const { agent_hint: hint, type, name, parent_span_id } = span;
  const isOwn =
    hint !== null &&
    hint.source !== 'service.name' &&
    (hint.source !== 'root span' || after.scope?.name === LOGGED_SCOPE) &&
    !(isDeciding(type, before) && hint.name === programOf(before, names));
  return isOwn ? hint : hintOfResource({ type, name, isRoot: parent_span_id === null }, after, names);
}

/** The hint of a span that does not name an agent: its program, else its root. */
function hintOfResource(
  { type, name, isRoot }: Pick<NamedSpan, 'type' | 'name' | 'isRoot'>,
  origin: Origin,
  names: AgentNames,
  provenance?: Provenance,
): AgentHint | null {
  const program = programOf(origin, names, provenance);
  if (program !== null)
    return { source: isDeciding(type, origin) ? 'agent span' : 'service.name', name: program };
  if (!isRoot) return null;
  const root = names.withoutIds(name);
  const constant = storableName(origin.serviceName);
  if (root !== '' || constant === '')
    return { source: 'root span', name: because('name of the root', root || name, { provenance }) };
  return { source: 'root span', name: because('service.name of the resource', constant, { provenance }) };
}

function isDeciding(type: SpanType, { scope }: Origin): boolean {
  return type === 'llm' && LAST_CALLS.has(scope?.name);
}

function programOf(
  { serviceName, resource }: Origin,
  names: AgentNames,
  provenance?: Provenance,
): string | null {
  const service = serviceName === '' ? null : names.serviceIn(serviceName);
  if (service !== null) return because('service.name of the resource', service, { provenance });
  for (const key of PROJECTS) {
    const project = resource[key];
    const name = typeof project === 'string' ? names.withoutIds(project) : '';
    if (name !== '' && name !== NO_PROJECT) return because(`${key} of the resource`, name, { provenance });
  }
  return null;
}

function sourceOf({ type, isRoot }: NamedSpan, { scope }: Origin): AgentHint['source'] {
  // A logged prompt does not report how it went.
  if (isRoot) return scope?.name === LOGGED_SCOPE ? 'root span' : 'root';
  return type === 'agent' || type === 'custom' ? 'agent span' : 'mention';
}

/** The name of an agent that the span gives by its own convention. */
function ownName(span: NamedSpan, reading: SpanReading, names: AgentNames): string | null {
  const { type, kind, spanName, isRoot } = span;
  return (
    named('agent', reading, names) ??
    (type === 'agent' ? named('openinference_agent', reading, names) : null) ??
    named('function', reading, names) ??
    named('workflow', reading, names) ??
    named('lc_agent', reading, names) ??
    (kind === 'agent' || kind === 'agent made' || (isRoot && (kind === 'chain' || kind === 'named root'))
      ? bySpan(spanName, reading, names)
      : null) ??
    (kind === 'agent' ? named('langfuse_trace', reading, names) : null) ??
    (isRoot && names.isSpecific(spanName)
      ? because('agent_names of the configuration', storableName(spanName), reading)
      : null)
  );
}

/** The agent in the span's name. Some clients name an unnamed agent by its model (`invoke_agent gpt-5`), which does not count. */
function bySpan(spanName: string, reading: SpanReading, names: AgentNames): string | null {
  const name = names.nameIn(spanName);
  return name === reading.text('model') ? null : because('name of the span', name, reading);
}

function named(field: Field, reading: SpanReading, names: AgentNames): string | null {
  const text = reading.text(field);
  return text === null ? null : because(field, names.nameIn(text), reading);
}

function because<Name extends string | null>(
  ground: Ground,
  name: Name,
  { provenance }: { readonly provenance?: Provenance | undefined },
): Name {
  if (name !== null) provenance?.decided('agent', ground);
  return name;
}
