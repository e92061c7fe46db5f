import { ConsumeError } from '../../component/consume-error.js';
import type { Refusal } from '../../component/consumer.js';
import type { ConfigNode } from '../../config/config-node.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { differences, shownValue, type Difference } from './compare.js';

/** Compares actual with expected results. Without an expectation, nothing may be refused. */
export function judged(
  expected: ConfigNode,
  received: Readonly<Record<string, unknown>>,
  isExpectation: boolean,
): readonly Difference[] {
  const entries = expected.kind === 'map' && isExpectation ? expected.entries : new Map<string, never>();
  const found = [...entries].flatMap(([key, { node }]: [string, { readonly node: ConfigNode }]) => {
    if (key === 'failed') return failedAs(node, received['failed']);
    const nothing = key === 'dropped' ? {} : [];
    const value = (received[key] ?? nothing) as JsonValue;
    if (key === 'dropped' && node.kind === 'map')
      return droppedAs(node, value as Readonly<Record<string, number>>);
    if (key === 'refused') return differences(asPatterns(node), value, key);
    if (key === 'requests') return differences(withLowerHeaders(node), value, key);
    if (key === 'answers') return unanswered(node, value as readonly JsonObject[]);
    if (key === 'log') return unlogged(node, value as readonly string[]);
    return differences(node, value, key);
  });
  const refused = received['refused'] as readonly Refusal[];
  if (!entries.has('refused') && refused.length > 0)
    found.push(
      ...differences(
        { kind: 'list', position: expected.position, items: [] },
        refused as unknown as JsonValue,
        'refused',
      ),
    );
  const { failed } = received;
  if (!entries.has('failed') && failed instanceof ConsumeError)
    found.push({
      position: expected.position,
      path: 'failed',
      expected: 'nothing',
      received: `${failed.code}: ${failed.message}`,
    });
  return found;
}

function failedAs(node: ConfigNode, failed: unknown): readonly Difference[] {
  const wanted = node.kind === 'scalar' ? String(node.value) : '';
  const received = failed instanceof ConsumeError ? `${failed.code}: ${failed.message}` : 'nothing';
  return received.includes(wanted) && received !== 'nothing'
    ? []
    : [{ position: node.position, path: 'failed', expected: wanted, received }];
}

/** Processors that are not listed must have dropped nothing. */
function droppedAs(
  node: ConfigNode & { readonly kind: 'map' },
  dropped: Readonly<Record<string, number>>,
): readonly Difference[] {
  const named = differences(
    node,
    Object.fromEntries([...node.entries.keys()].map((key) => [key, dropped[key] ?? 0])),
    'dropped',
  );
  const others = Object.entries(dropped).filter(([key]) => !node.entries.has(key));
  return [
    ...named,
    ...others.map(([key, value]) => ({
      position: node.position,
      path: `dropped.${key}`,
      expected: '0',
      received: String(value),
    })),
  ];
}

/** Adds the body of the response to an unexpected status. */
function unanswered(node: ConfigNode, answers: readonly JsonObject[]): readonly Difference[] {
  return differences(withLowerHeaders(node), answers as JsonObject[], 'answers').map((one) => {
    const at = /^answers\[(\d+)\]\.status$/.exec(one.path)?.[1];
    const body = at === undefined ? undefined : answers[Number(at)]?.['body'];
    return body === undefined || body === ''
      ? one
      : { ...one, received: `${one.received}: ${shownValue(body)}` };
  });
}

/** Each expected line must occur, possibly as part of a line; further lines are allowed. */
function unlogged(node: ConfigNode, lines: readonly string[]): readonly Difference[] {
  const wanted = node.kind === 'list' ? node.items : [];
  return wanted.flatMap((item, index) => {
    const one = asPattern(item);
    const found = lines.some((line) => differences(one, line, '').length === 0);
    return found ? [] : differences(one, lines.join('\n'), `log[${index}]`);
  });
}

/** An expected reason matches if the actual one contains it. */
function asPatterns(node: ConfigNode): ConfigNode {
  if (node.kind === 'list') return { ...node, items: node.items.map(asPatterns) };
  if (node.kind !== 'map') return node;
  const entries = [...node.entries].map(([key, entry]) => {
    return [key, key === 'reason' ? { ...entry, node: asPattern(entry.node) } : entry] as const;
  });
  return { ...node, entries: new Map(entries) };
}

/** An expected text matches if the actual one contains it. */
function asPattern(node: ConfigNode): ConfigNode {
  if (node.kind !== 'scalar' || typeof node.value !== 'string' || node.value.startsWith('/')) return node;
  return { ...node, value: `/${node.value.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}/` };
}

/** Lower-case header names, as in recorded requests. */
function withLowerHeaders(node: ConfigNode, isHeaders = false): ConfigNode {
  if (node.kind === 'list') return { ...node, items: node.items.map((item) => withLowerHeaders(item)) };
  if (node.kind !== 'map') return node;
  const entries = [...node.entries].map(([key, entry]) =>
    isHeaders
      ? ([key.toLowerCase(), entry] as const)
      : ([key, key === 'headers' ? { ...entry, node: withLowerHeaders(entry.node, true) } : entry] as const),
  );
  return { ...node, entries: new Map(entries) };
}
