import type { ConfigNode, ScalarNode } from '../config/config-node.js';

/** `$$`, or `${param.NAME}`. */
const TOKEN = /\$\$|\$\{param\.([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The parameters that a part of a template names. */
export function parametersIn(node: ConfigNode): readonly string[] {
  switch (node.kind) {
    case 'map':
      return [...node.entries.values()].flatMap((entry) => parametersIn(entry.node));
    case 'list':
      return node.items.flatMap(parametersIn);
    case 'scalar':
      return typeof node.value === 'string'
        ? [...node.value.matchAll(TOKEN)].flatMap(([, name]) => name ?? [])
        : [];
  }
}

/**
 * Puts the values of parameters into a part of a template. A scalar that is nothing but `${param.x}` becomes the value,
 * whatever it is; inside a longer text it is written as text. A key whose value is a parameter that was not given is left
 * out, so that the default of the component holds.
 */
export function withParameters(node: ConfigNode, values: Readonly<Record<string, unknown>>): ConfigNode {
  return replace(node, values) ?? { kind: 'map', position: node.position, entries: new Map() };
}

function replace(node: ConfigNode, values: Readonly<Record<string, unknown>>): ConfigNode | undefined {
  switch (node.kind) {
    case 'map': {
      const entries = [...node.entries].flatMap(([key, entry]) => {
        const child = replace(entry.node, values);
        return child === undefined ? [] : [[key, { ...entry, node: child }] as const];
      });
      return { ...node, entries: new Map(entries) };
    }
    case 'list':
      return {
        ...node,
        items: node.items.map((item) => replace(item, values)).filter((item) => item !== undefined),
      };
    case 'scalar':
      return replaceScalar(node, values);
  }
}

function replaceScalar(node: ScalarNode, values: Readonly<Record<string, unknown>>): ConfigNode | undefined {
  if (typeof node.value !== 'string' || !node.value.includes('$')) return node;
  const [token] = [...node.value.matchAll(TOKEN)];
  const name = token?.[1];
  if (name !== undefined && token?.[0] === node.value) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? undefined : nodeOf(value, node);
  }
  const text = node.value.replace(TOKEN, (found, inner: string | undefined) =>
    inner === undefined ? found.slice(1) : textOf(Object.hasOwn(values, inner) ? values[inner] : undefined),
  );
  return { ...node, value: text, isSubstituted: true };
}

/** A value as if it had been written in its place in the template. It is not shown in errors, because it may be a secret. */
function nodeOf(value: unknown, { position, source }: ScalarNode): ConfigNode {
  const place = { kind: 'scalar', position, source, isSubstituted: true } as const;
  if (Array.isArray(value))
    return {
      kind: 'list',
      position,
      items: value.map((item: unknown) => nodeOf(item, { ...place, value: null })),
    };
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, child]: [string, unknown]) => {
      return [key, { keyPosition: position, node: nodeOf(child, { ...place, value: null }) }] as const;
    });
    return { kind: 'map', position, entries: new Map(entries) };
  }
  if (typeof value === 'string') return { ...place, value, text: value };
  return { ...place, value: typeof value === 'number' || typeof value === 'boolean' ? value : null };
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
