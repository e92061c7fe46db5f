import type { ConfigNode, ScalarNode } from '../config/config-node.js';

/** `$$`, or `${param.NAME}`, `${json.NAME}`; inside `make` also `${item}`, `${item.FIELD}`, `${key}`, and these as `${json.item}`. */
const TOKEN =
  /\$\$|\$\{(?:(param|json)\.([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z_][A-Za-z0-9_]*)?)|(item|key)((?:\.[A-Za-z_][A-Za-z0-9_]*)?))(\.\.\.)?\}/g;
const LOOP: readonly string[] = ['item', 'key'];

type Values = Readonly<Record<string, unknown>>;

interface Token {
  readonly text: string;
  readonly name: string;
  /** A field of the value; empty for the value itself. */
  readonly field: string;
  /** Always substituted as JSON. */
  readonly isJson: boolean;
  /** Replaced by its elements. */
  readonly isSpread: boolean;
}

/** Names of the parameters used in a part of a template. */
export function parametersIn(node: ConfigNode): readonly string[] {
  switch (node.kind) {
    case 'map':
      return [...node.entries.values()].flatMap((entry) => parametersIn(entry.node));
    case 'list':
      return node.items.flatMap(parametersIn);
    case 'scalar':
      return typeof node.value === 'string'
        ? tokensIn(node.value).flatMap(({ name }) => (LOOP.includes(name) ? [] : name))
        : [];
  }
}

/**
 * Substitutes parameters in a part of a template. A scalar that consists of `${param.x}` alone becomes the value, of any type;
 * inside a longer text the value is inserted as text, `${json.x}` as JSON, which is also CEL. A key whose value is an omitted
 * parameter is left out, so that the default of the component applies. In a list, `${param.x...}` is replaced by its elements,
 * and `{for_each: ${param.x}, make: …}` by one item for each element; in a map, `...: ${param.x}` is replaced by its entries.
 */
export function withParameters(node: ConfigNode, values: Values): ConfigNode {
  return replace(node, values) ?? { kind: 'map', position: node.position, entries: new Map() };
}

function replace(node: ConfigNode, values: Values): ConfigNode | undefined {
  switch (node.kind) {
    case 'map': {
      const entries = [...node.entries].flatMap(([key, entry]) => {
        const child = replace(entry.node, values);
        if (key === '...') return child?.kind === 'map' ? [...child.entries] : [];
        return child === undefined ? [] : [[key, { ...entry, node: child }] as const];
      });
      return { ...node, entries: new Map(entries) };
    }
    case 'list':
      return { ...node, items: node.items.flatMap((item) => itemsOf(item, values)) };
    case 'scalar':
      return replaceScalar(node, values);
  }
}

/** The replacements of one item of a list. */
function itemsOf(item: ConfigNode, values: Values): readonly ConfigNode[] {
  const loop = loopIn(item);
  if (loop !== undefined) return repeated(loop.over, loop.make, values);
  if (item.kind === 'scalar' && typeof item.value === 'string') {
    const token = wholeToken(item.value);
    if (token?.isSpread === true) {
      const list = valueOf(token, values);
      return Array.isArray(list) ? list.map((element: unknown) => nodeOf(element, item)) : [];
    }
  }
  const replaced = replace(item, values);
  return replaced === undefined ? [] : [replaced];
}

function repeated(over: ConfigNode, make: ConfigNode, values: Values): readonly ConfigNode[] {
  const token = over.kind === 'scalar' && typeof over.value === 'string' ? wholeToken(over.value) : undefined;
  const value = token === undefined ? undefined : valueOf(token, values);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(
    ([key, item]) => replace(make, { ...values, key, item: item as unknown }) ?? [],
  );
}

function loopIn(node: ConfigNode): { readonly over: ConfigNode; readonly make: ConfigNode } | undefined {
  if (node.kind !== 'map' || node.entries.size !== 2) return undefined;
  const over = node.entries.get('for_each')?.node;
  const make = node.entries.get('make')?.node;
  return over && make && { over, make };
}

function replaceScalar(node: ScalarNode, values: Values): ConfigNode | undefined {
  if (typeof node.value !== 'string' || !node.value.includes('$')) return node;
  const whole = wholeToken(node.value);
  if (whole?.isJson === false) {
    const value = valueOf(whole, values);
    return value === undefined ? undefined : nodeOf(value, node);
  }
  const text = node.value.replace(TOKEN, (found) => {
    const token = tokensIn(found)[0];
    if (token === undefined) return '$';
    const value = valueOf(token, values);
    return token.isJson ? JSON.stringify(value ?? null) : textOf(value);
  });
  return { ...node, value: text, isSubstituted: true };
}

function tokensIn(text: string): readonly Token[] {
  return [...text.matchAll(TOKEN)].flatMap(
    ([found, space, named, namedField = '', loop, loopField = '', spread]) => {
      const name = named ?? loop;
      if (name === undefined) return [];
      const field = (loop === undefined ? namedField : loopField).slice(1);
      return [{ text: found, name, field, isJson: space === 'json', isSpread: spread !== undefined }];
    },
  );
}

/** The token of a text that consists of one token only. */
function wholeToken(text: string): Token | undefined {
  const [token] = tokensIn(text);
  return token?.text === text ? token : undefined;
}

function valueOf({ name, field }: Token, values: Values): unknown {
  const value = ownValue(values, name);
  return field === '' ? value : ownValue(value, field);
}

function ownValue(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined;
  return (object as Values)[name];
}

/** A value as if it were written at its place in the template. Errors do not show it, because it may be a secret. */
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
