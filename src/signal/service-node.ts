import type { JsonObject, JsonValue } from './attributes.js';
import { MAX_NAME, storableName } from './names.js';
import type { SpanRecord } from './span.js';
import { hostOf } from './url-host.js';

/** The node is that of the trace's agent. */
export const AGENT: unique symbol = Symbol('the agent of the trace');

/** What decides about a span's node. */
export type NamedSpan = Pick<SpanRecord, 'type' | 'name' | 'input_data' | 'metadata'>;

/** The texts from which a span's node gets its name: a name, or the first URL with a host and otherwise the name. */
export type NodeTexts = string | { readonly urls: readonly string[]; readonly name: string };

/** Where a span's node comes from; null for a span without one. */
export type NodeSource = NodeTexts | typeof AGENT | null;

/** Names cut to 1024 characters come out the same whether or not they were cut here before. */
const MAX_UNITS = MAX_NAME * 2;

/** @returns the name of a span's node, {@link AGENT}, or null for a span without one */
export function serviceNodeOf(span: NamedSpan): string | typeof AGENT | null {
  const source = nodeSource(span);
  return source === AGENT || source === null ? source : nodeName(source);
}

/** Picks from a span what the name of its node follows from. It only looks up properties: {@link nodeName} does the rest. */
export function nodeSource({ type, name, input_data, metadata }: NamedSpan): NodeSource {
  switch (type) {
    case 'llm':
    case 'tool':
      return null;
    case 'agent':
      return text(metadata?.['gen_ai.agent.name']) ?? text(metadata?.['agent.name']) ?? AGENT;
    case 'http': {
      const peer = peerOf(metadata) ?? text(metadata?.['server.address']);
      if (peer !== undefined) return peer;
      const urls = [text(input_data?.url), text(metadata?.['url.full']), text(metadata?.['http.url'])].filter(
        (url) => url !== undefined,
      );
      return urls.length === 0 ? name : { urls, name };
    }
    case 'db':
      return peerOf(metadata) ?? databaseOf(metadata) ?? text(input_data?.system) ?? name;
    case 'custom':
      return name;
  }
}

/** @returns null where no text is left: then the span has no node */
export function nodeName(texts: NodeTexts): string | null {
  if (typeof texts === 'string') return storableName(texts) || null;
  for (const url of texts.urls) {
    const host = hostOf(url);
    if (host !== undefined) return storableName(host);
  }
  return storableName(texts.name) || null;
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

/** A text that is not blank, without the spaces around it. */
function text(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  const trimmed = value.trim();
  if (trimmed === '') return undefined;
  return trimmed.length > MAX_UNITS ? trimmed.slice(0, MAX_UNITS) : trimmed;
}
