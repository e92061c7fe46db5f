import type { JsonObject, JsonValue } from './attributes.js';
import { foldedName } from './folded-name.js';
import { AGENT_MARK, DECLARED_MARK, NUMBERED_MARK, URL_MARK, type MapHint } from './map-hint.js';
import { MAX_NAME, storableName } from './names.js';
import { remembering } from './remembering.js';
import type { SpanRecord } from './span.js';
import { hostName, hostOf } from './url-host.js';

/** The node of the trace's agent. */
export const AGENT: unique symbol = Symbol('the agent of the trace');

/** The fields of a span that its node depends on. */
export type NamedSpan = Pick<SpanRecord, 'type' | 'name' | 'input_data' | 'metadata' | 'map_hint'>;

/**
 * The source of a node's name: a text with a mark as in {@link MapHint}, or the first URL with a host, otherwise the span's name.
 */
export type NodeTexts = string | { readonly urls: readonly string[]; readonly name: string };

/** The source of a span's node; null for a span without one. */
export type NodeSource = NodeTexts | typeof AGENT | null;

/** Longer names may be cut here: after folding and the final cut to 1024 characters, the result is the same. */
const MAX_UNITS = MAX_NAME * 2;
/** Size of the cache of names. */
const MAX_KNOWN = 4096;

/** @returns the name of a span's node, {@link AGENT}, or null for a span without one */
export function serviceNodeOf(span: NamedSpan): string | typeof AGENT | null {
  const source = nodeSource(span);
  return source === AGENT || source === null ? source : nodeName(source);
}

/**
 * Selects the source of a node's name from a span. It only reads properties, and not `metadata` if there is a mapping hint;
 * {@link nodeName} does the rest.
 */
export function nodeSource(span: NamedSpan): NodeSource {
  const { type, map_hint } = span;
  if (type === 'llm' || (type === 'tool' && map_hint === null)) return null;
  return map_hint === null ? sourceIn(span) : hintedSource(map_hint, span.name);
}

/** @returns null if no text remains: the span then has no node */
export function nodeName(texts: NodeTexts): string | null {
  if (typeof texts === 'string') return knownName(texts);
  for (const url of texts.urls) {
    const host = hostOf(url);
    if (host !== undefined) return knownName(DECLARED_MARK + host);
  }
  return knownName(NUMBERED_MARK + texts.name);
}

function hintedSource(hint: MapHint, name: string): NodeSource {
  switch (hint[0]) {
    case undefined:
      return null;
    case AGENT_MARK:
      return hint.length === 1 ? AGENT : hint;
    case URL_MARK:
      return { urls: [hint.slice(1)], name };
    default:
      return hint === NUMBERED_MARK ? NUMBERED_MARK + name : hint;
  }
}

/** The source for a span without a hint from a mapping. */
function sourceIn({ type, name, input_data, metadata }: NamedSpan): NodeSource {
  switch (type) {
    case 'agent': {
      const agent = text(metadata?.['gen_ai.agent.name']) ?? text(metadata?.['agent.name']);
      return agent === undefined ? AGENT : AGENT_MARK + agent;
    }
    case 'http': {
      const address = text(metadata?.['server.address']);
      const peer = peerOf(metadata) ?? (address && hostName(address));
      if (peer !== undefined) return DECLARED_MARK + peer;
      const urls = [text(input_data?.url), text(metadata?.['url.full']), text(metadata?.['http.url'])].filter(
        (url) => url !== undefined,
      );
      return urls.length === 0 ? NUMBERED_MARK + name : { urls, name };
    }
    case 'db': {
      const database = peerOf(metadata) ?? databaseOf(metadata) ?? text(input_data?.system);
      return database === undefined ? NUMBERED_MARK + name : DECLARED_MARK + database;
    }
    default:
      return NUMBERED_MARK + name;
  }
}

/** The node name for a text with its mark, cached. */
const knownName = remembering(MAX_KNOWN, nameBehind);

/** Agents keep their names; other names are folded to limit their number. */
function nameBehind(marked: string): string | null {
  const name = storableName(marked.slice(1));
  if (marked[0] === AGENT_MARK) return name || null;
  return storableName(foldedName(name)) || null;
}

function peerOf(metadata: JsonObject | null): string | undefined {
  return text(metadata?.['service.peer.name']) ?? text(metadata?.['peer.service']);
}

function databaseOf(metadata: JsonObject | null): string | undefined {
  const system = text(metadata?.['db.system.name']) ?? text(metadata?.['db.system']);
  if (system === undefined) return undefined;
  const namespace = text(metadata?.['db.namespace']) ?? text(metadata?.['db.name']);
  return namespace === undefined ? system : `${system}/${namespace}`;
}

/** A trimmed text; undefined if it is blank. */
function text(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  const trimmed = value.trim();
  if (trimmed === '') return undefined;
  return trimmed.length > MAX_UNITS ? trimmed.slice(0, MAX_UNITS) : trimmed;
}
